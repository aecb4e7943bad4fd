"""What settings of packed weights leave open, rule out or ask for: by checkpoints that are spoilt one by one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packed import Tensors, write
from paths import ARCHITECTURES

import hfcount
from hfcount.mapper.quantization_config import announcements
from hfcount.mapper.quantization_presets import PRESETS
from hfcount.quantization.packing.expected import expected
from hfcount.quantization.packing.kv_cache_scales import Heads, usual
from hfcount.quantization.packing.suffixes import Suffixes
from hfcount.quantization.scheme import DENSE, PREDICTION, ROUTER, Module
from hfcount.quantization.scheme import usual as packed_or_not
from hfcount.quantization.schemes import described, read
from hfcount.quantization.schemes.mlx import Grouped

Json = dict[str, Any]
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "max_position_embeddings": 128,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
}
QWEN_MOE = LLAMA | {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "head_dim": 64,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 256,
    "decoder_sparse_step": 1,
    "norm_topk_prob": True,
    "mlp_only_layers": [],
}
MIXTRAL = LLAMA | {
    "model_type": "mixtral",
    "architectures": ["MixtralForCausalLM"],
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
}
EMBED, HEAD = "model.embed_tokens", "lm_head"
FIRST, QUERY = "model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.q_proj"


def compressed(form: str, *, cache: Json | None = None, **weights: Any) -> Json:
    group = {"targets": ["Linear"], "weights": weights, "format": form}
    own = {"config_groups": {"group_0": group} if weights else {}, "format": form, "ignore": ["lm_head"]}
    return {"quant_method": "compressed-tensors", "quantization_status": "compressed", "kv_cache_scheme": cache} | own


def fp8(**cache: Any) -> Json:
    eight = {"num_bits": 8, "type": "float", "strategy": "channel"}
    return compressed("float-quantized", cache={"num_bits": 8, "type": "float", **cache} if cache else None, **eight)


MX4 = {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}
TENSOR, HEADS = {"strategy": "tensor", "dynamic": False}, {"strategy": "attn_head", "dynamic": False}


def stored(config: Json, settings: Json, key: str = "quantization_config") -> Tensors:
    """What a tool that packs by these settings stores."""
    scheme = read(announcements({key: settings})[0], "bfloat16")
    plan = hfcount.blueprint(config)
    leaves = [leaf for leaf in plan.leaves if leaf.presence == "required"]
    tensors = list(expected(leaves, scheme).tensors)
    if scheme.caches_stored:
        tensors += usual(leaves, Heads.of(plan.spec, scheme.caches_heads))
    return {
        name: (list(map(int, one.shape)), one.dtypes[0] if one.dtypes else "BF16")
        for one in tensors
        for name in one.names()
    }


def without(tensors: Tensors, *ends: str) -> Tensors:
    return {name: own for name, own in tensors.items() if not name.endswith(ends)}


def dense(tensors: Tensors, config: Json, *modules: str) -> Tensors:
    """The same with some modules as they were before."""
    rest = {name: own for name, own in tensors.items() if name.rpartition(".")[0] not in modules}
    described = {one.name: one for one in hfcount.blueprint(config).tensors(stored=True)}
    return rest | {f"{one}.weight": (list(map(int, described[f"{one}.weight"].shape)), "BF16") for one in modules}


def told(folder: Path, config: Json, tensors: Tensors, depth: Any = "headers") -> tuple[str, list[str]]:
    report = hfcount.verify(write(folder / "one", {"config": config, "beside": {}}, tensors), depth=depth)
    return report.verdict, [finding.code for finding in report.findings]


FOUR: Json = {"bits": 4, "group_size": 64}


@pytest.mark.parametrize("depth", ["headers", "index"])
@pytest.mark.parametrize(
    ("settings", "modules", "verdict"),
    [
        (FOUR, (), "verified"),
        # What no entry names is packed if its scales are there.
        (FOUR, (EMBED,), "verified"),
        (FOUR, (HEAD, FIRST, QUERY), "verified"),
        (FOUR | {EMBED: False}, (), "verified"),
        (FOUR | {EMBED: True}, (), "verified"),
        (FOUR | {EMBED: True}, (EMBED,), "mismatch"),
        (FOUR | {QUERY: {"bits": 8, "group_size": 64}}, (FIRST,), "verified"),
        (FOUR | {QUERY: {"bits": 8, "group_size": 64}}, (QUERY,), "mismatch"),
    ],
)
def test_mlx_packs_what_has_scales_unless_an_entry_names_it(
    tmp_path: Path, settings: Json, modules: tuple[str, ...], verdict: str, depth: Any
) -> None:
    tensors = dense(stored(LLAMA, settings, "quantization"), LLAMA, *modules)
    assert told(tmp_path, LLAMA | {"quantization": settings}, tensors, depth)[0] == verdict


@pytest.mark.parametrize("bits", [4, 6, 8])
def test_mlx_weights_without_biases_are_told_by_bits_and_groups(tmp_path: Path, bits: int) -> None:
    settings = {"bits": bits, "group_size": 64}
    tensors = without(stored(LLAMA, settings, "quantization"), ".biases")
    assert told(tmp_path, LLAMA | {"quantization": settings}, tensors) == ("mismatch", ["HF503"])


CONV1D = {
    "gpt2": {"n_embd": 64, "n_head": 4},
    "openai-gpt": {"n_embd": 64, "n_head": 4},
    "imagegpt": {"n_embd": 64, "n_head": 4},
    "decision_transformer": {"hidden_size": 64, "n_head": 4},
}


@pytest.mark.parametrize("settings", [{"load_in_8bit": True}, {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}])
@pytest.mark.parametrize("kind", CONV1D)
def test_bitsandbytes_packs_conv1d_as_a_linear_map(tmp_path: Path, kind: str, settings: Json) -> None:
    recorded: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    values, announced = recorded | CONV1D[kind] | {"dtype": "bfloat16"}, {"quant_method": "bitsandbytes"} | settings
    tensors = stored(values, announced)
    assert any(name.endswith("c_attn.weight") and dtype in ("I8", "U8") for name, (_, dtype) in tensors.items())
    assert told(tmp_path / "packed", values | {"quantization_config": announced}, tensors)[0] == "verified"
    plain: Tensors = {leaf.name: (list(leaf.shape), "BF16") for leaf in hfcount.blueprint(values).tensors(stored=True)}
    assert told(tmp_path / "dense", values | {"quantization_config": announced}, plain) == ("mismatch", ["HF504"])


@pytest.mark.parametrize("ends", [(f"{QUERY}.scales",), (f"{QUERY}.scales", f"{QUERY}.biases")])
def test_an_mlx_module_without_its_scales_is_no_dense_one(tmp_path: Path, ends: tuple[str, ...]) -> None:
    tensors = without(stored(LLAMA, FOUR, "quantization"), *ends)
    assert told(tmp_path, LLAMA | {"quantization": FOUR}, tensors) == ("mismatch", ["HF503"])


@pytest.mark.parametrize(
    ("settings", "own", "layout"),
    [
        (FOUR, {"bits": 8}, Grouped(8, 64)),
        ({"bits": 4, "group_size": 32}, {"bits": 8}, Grouped(8, 64)),
        ({"bits": 4, "group_size": 32, "mode": "mxfp4"}, {"bits": 8, "group_size": 64}, Grouped(8, 64)),
        ({"bits": 4, "group_size": 32, "mode": "mxfp4"}, {"mode": "mxfp8"}, Grouped(8, 32, "mxfp8")),
        (FOUR, {"mode": "nvfp4", "global_scale": True}, Grouped(4, 16, "nvfp4", whole=True)),
    ],
)
def test_an_entry_of_mlx_says_all_of_its_module(settings: Json, own: Json, layout: Grouped) -> None:
    scheme = read(announcements({"quantization": settings | {QUERY: own}})[0], "bfloat16")
    assert scheme.choose(Module(QUERY, "attention", inputs=256, outputs=256)).layout == layout


@pytest.mark.parametrize(
    ("settings", "key", "found", "wanted"),
    [
        (
            compressed("mxfp4-pack-quantized", **MX4 | {"num_bits": 8}),
            "quantization_config.config_groups.group_0.weights.num_bits",
            8,
            4,
        ),
        (
            compressed("float-quantized", num_bits=4, type="float", strategy="channel"),
            "quantization_config.config_groups.group_0.weights.num_bits",
            4,
            8,
        ),
        (
            {"quant_method": "modelopt", "quant_algo": "MXFP8", "group_size": 16, "ignore": ["lm_head"]},
            "quantization_config.group_size",
            16,
            32,
        ),
        (
            {
                "quant_method": "modelopt",
                "quant_algo": "FP8",
                "ignore": ["lm_head"],
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "float"}, "targets": ["Linear"]}},
            },
            "quantization_config.config_groups.group_0.weights.num_bits",
            4,
            8,
        ),
        ({"bits": 8, "group_size": 32, "mode": "mxfp4"}, "quantization.bits", 8, 4),
        (FOUR | {QUERY: {"mode": "nvfp4", "group_size": 32}}, f"quantization.{QUERY}.group_size", 32, 16),
    ],
)
def test_a_number_that_a_name_rules_out_is_told(
    tmp_path: Path, settings: Json, key: str, found: int, wanted: int
) -> None:
    around = key.partition(".")[0]
    path = write(
        tmp_path / "one",
        {"config": LLAMA | {"rms_norm_eps": 1e-5, around: settings}, "beside": {}},
        stored(LLAMA, settings, around),
    )
    report = hfcount.verify(path)
    (finding,) = report.findings
    assert (report.verdict, finding.code, finding.key) == ("mismatch", "HF505", key)
    assert (finding.observed, finding.expected) == (found, wanted)


@pytest.mark.parametrize("depth", ["headers", "index"])
@pytest.mark.parametrize(
    ("cache", "lost", "verdict", "code"),
    [
        (TENSOR, (), "verified", []),
        (HEADS, (), "verified", []),
        (TENSOR, ("layers.1.self_attn.k_scale",), "mismatch", ["HF503"]),
        (HEADS, ("layers.2.self_attn.v_scale",), "mismatch", ["HF503"]),
        (TENSOR, ("v_scale",), "mismatch", ["HF503"]),
        (TENSOR, ("k_scale", "v_scale"), "mismatch", ["HF503"]),
        ({"strategy": "tensor", "dynamic": True}, ("k_scale", "v_scale"), "verified", []),
    ],
)
def test_every_layer_has_the_scales_of_its_cache(
    tmp_path: Path, cache: Json, lost: tuple[str, ...], verdict: str, code: list[str], depth: Any
) -> None:
    settings = fp8(**cache)
    tensors = without(stored(LLAMA, settings), *lost)
    assert told(tmp_path, LLAMA | {"quantization_config": settings}, tensors, depth) == (verdict, code)


def test_shapes_of_packed_and_of_other_tensors_are_counted_apart(tmp_path: Path) -> None:
    settings = fp8()
    tensors = stored(LLAMA, settings)
    tensors[f"{QUERY}.weight"] = [128, 256], "F8_E4M3"
    tensors["model.norm.weight"] = [128], "BF16"
    config = LLAMA | {"quantization_config": settings}
    report = hfcount.verify(write(tmp_path / "m", {"config": config, "beside": {}}, tensors), depth="headers")
    checks = {check.name: check for check in report.checks}
    packed = sum(dtype != "BF16" or name.endswith("_scale") for name, (_, dtype) in tensors.items())
    assert {name: checks[name].observed for name in ("shapes", "packed_shapes")} == {
        "shapes": len(tensors) - packed - 1,
        "packed_shapes": packed - 1,
    }
    assert [one.expected - one.observed for name, one in checks.items() if "shapes" in name] == [1, 1]


@pytest.mark.parametrize(
    ("cache", "shape", "codes"),
    [
        (HEADS, [2, 1, 1], []),
        (HEADS, [4, 1, 1], ["HF301"]),
        (HEADS, [1], ["HF301"]),
        (TENSOR, [2, 1, 1], ["HF301"]),
        (TENSOR, [], []),
    ],
)
def test_a_cache_has_a_scale_for_each_head_of_keys_if_it_is_said(
    tmp_path: Path, cache: Json, shape: list[int], codes: list[str]
) -> None:
    settings = fp8(**cache)
    tensors = stored(LLAMA, settings)
    tensors["model.layers.1.self_attn.k_scale"] = shape, "BF16"
    assert told(tmp_path, LLAMA | {"quantization_config": settings}, tensors)[1] == codes


def modelopt_cache(tensors: Tensors) -> Tensors:
    scales = {f"model.layers.{n}.self_attn.{k}_proj.{k}_scale": ([], "F32") for n in range(3) for k in "kv"}
    return tensors | scales


def test_scales_of_a_cache_within_modules_are_missed_too(tmp_path: Path) -> None:
    settings = {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"], "kv_cache_quant_algo": "FP8"}
    tensors = modelopt_cache(stored(LLAMA, settings))
    config = LLAMA | {"quantization_config": settings}
    assert told(tmp_path / "whole", config, tensors) == ("verified", [])
    lost = without(tensors, "layers.0.self_attn.v_proj.v_scale")
    assert told(tmp_path / "lost", config, lost) == ("mismatch", ["HF503"])


def fused(tensors: Tensors, config: Json) -> Tensors:
    """The scales of a layer's experts in one tensor, as transformers 5.23 saves them."""
    rest = {name: own for name, own in tensors.items() if not (".experts." in name and name.endswith("_scale_inv"))}
    wide, narrow = config["moe_intermediate_size"], config["hidden_size"]
    for layer in range(config["num_hidden_layers"]):
        block = f"model.layers.{layer}.mlp.experts."
        shape = [config["num_experts"], -(-2 * wide // 128), -(-narrow // 128)]
        rest[f"{block}gate_up_proj_scale_inv"] = shape, "F32"
        rest[f"{block}down_proj_scale_inv"] = [shape[0], -(-narrow // 128), -(-wide // 128)], "F32"
    return rest


BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128]}
UP = "model.layers.1.mlp.experts.2.up_proj.weight"
SCALE = "model.layers.1.mlp.experts.gate_up_proj_scale_inv"


@pytest.mark.parametrize(
    ("spoil", "verdict", "codes"),
    [
        (lambda tensors: tensors, "explained", {"HF506"}),
        (lambda tensors: without(tensors, SCALE), "mismatch", {"HF201", "HF506"}),
        (lambda tensors: tensors | {SCALE: ([4, 3, 2], "F32")}, "mismatch", {"HF301", "HF506"}),
        (lambda tensors: tensors | {UP: ([256, 256], "BF16")}, "mismatch", {"HF303", "HF506"}),
        (lambda tensors: without(tensors, UP), "mismatch", {"HF201", "HF506"}),
    ],
)
def test_scales_of_experts_in_one_tensor(
    tmp_path: Path, spoil: Callable[[Tensors], Tensors], verdict: str, codes: set[str]
) -> None:
    tensors = spoil(fused(stored(QWEN_MOE, BLOCKS), QWEN_MOE))
    found = told(tmp_path, QWEN_MOE | {"quantization_config": BLOCKS}, tensors)
    assert (found[0], set(found[1])) == (verdict, codes)


def test_an_index_shows_scales_of_experts_in_one_tensor(tmp_path: Path) -> None:
    tensors = fused(stored(QWEN_MOE, BLOCKS), QWEN_MOE)
    found = told(tmp_path, QWEN_MOE | {"quantization_config": BLOCKS}, tensors, "index")
    assert found == ("explained", ["HF506"])


@pytest.mark.long
def test_only_autoround_loads_experts_by_names_that_the_architecture_has_not(tmp_path: Path) -> None:
    settings = compressed("mxfp4-pack-quantized", **MX4)
    names = {".w1.": ".gate_proj.", ".w2.": ".down_proj.", ".w3.": ".up_proj."}
    tensors: Tensors = {}
    for name, own in stored(MIXTRAL, settings).items():
        for old, new in names.items():
            name = name.replace(old, new)
        tensors[name] = own
    verdict, codes = told(tmp_path, MIXTRAL | {"quantization_config": settings}, tensors)
    assert (verdict, set(codes)) == ("mismatch", {"HF201"})  # which says that these hold as much as is missing


ROUTER_OF, EXPERT = "model.layers.0.mlp.gate.weight", "model.layers.0.mlp.experts.0.up_proj.weight"


@pytest.mark.parametrize(
    ("scheme", "name", "dtype"),
    [
        # transformers 5.23 leaves stacks of experts as they are; a router is no linear map to it.
        *((scheme, name, "BF16") for scheme in ("nf4", "bnb-int8", "hqq") for name in (ROUTER_OF, EXPERT)),
        ("fp8-dynamic", ROUTER_OF, "BF16"),
        ("fp8-dynamic", EXPERT, "F8_E4M3"),
        ("mxfp4", ROUTER_OF, "BF16"),
        ("mxfp4", f"{EXPERT}_packed", "U8"),
        ("mlx-4", ROUTER_OF, "U32"),
    ],
)
def test_what_tools_of_today_make_of_a_mixture(scheme: str, name: str, dtype: str) -> None:
    key = "quantization" if "mlx" in scheme else "quantization_config"
    assert stored(QWEN_MOE, dict(PRESETS[scheme]), key)[name][1] == dtype


def test_a_router_of_mlx_has_eight_bits_unless_it_is_more_than_a_linear_map() -> None:
    tensors = stored(QWEN_MOE, FOUR, "quantization")
    assert tensors["model.layers.0.mlp.gate.weight"] == ([4, 256 * 8 // 32], "U32")
    scheme = read(announcements({"quantization": FOUR})[0], "bfloat16")
    corrected = scheme.choose(Module("mlp.gate", "router", False, inputs=256, outputs=4, plain=False))
    assert (corrected.layout, corrected.likely, corrected.shown) == (None, None, True)


@pytest.mark.parametrize(("place", "packed"), [("text_config", False), (None, True)])
def test_settings_within_the_language_model_mean_no_tower(place: str | None, packed: bool) -> None:
    settings = compressed("mxfp4-pack-quantized", **MX4)
    scheme, _ = described(
        announcements({place: {"quantization_config": settings}} if place else {"quantization_config": settings}), None
    )
    found = [scheme.chosen(Module("tower.fc1", part, inputs=256, outputs=256)) for part in ("vision", "projector")]
    assert [one.layout is not None for one in found] == [packed, packed]
    assert scheme.chosen(Module(QUERY, "attention", inputs=256, outputs=256)).layout


def test_scales_of_a_cache_are_told_from_tensors_of_that_name() -> None:
    names = ["one.k_scale", "two.k_scale", "three.q_scale", "three.weight"]
    own = Suffixes([Grouped(4, 64)])
    for known, last, cache in (
        ({"two.k_scale"}, {"k_scale"}, ["one.k_scale", "three.q_scale"]),
        ({"two.k_scale"}, set[str](), ["one.k_scale", "two.k_scale", "three.q_scale"]),
        (set[str](), {"k_scale", "q_scale"}, ["one.k_scale", "two.k_scale", "three.q_scale"]),
    ):
        found = own.collect(names, known.__contains__, last)
        assert (found.cache, sorted(found.dense)) == (cache, sorted({*names} - {*cache}))


@pytest.mark.parametrize(
    ("module", "choice"),
    [
        (Module("mlp.gate", "router", linear=False), ROUTER),
        (Module("model.embed_tokens", "embedding", linear=False), DENSE),
        (Module("layers.9.embed_tokens", "embedding", linear=False, prediction=True), DENSE),
        (Module("layers.9.eh_proj", "mlp", prediction=True), PREDICTION),
        (Module("norm", "norm", linear=False), DENSE),
    ],
)
def test_what_packers_leave_alone(module: Module, choice: object) -> None:
    assert packed_or_not(module, Grouped(4, 64)) == choice
