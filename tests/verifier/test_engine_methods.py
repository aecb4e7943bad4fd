"""What vLLM and SGLang make of each quantisation method: what they refuse, and which modules they build packed."""

from pathlib import Path
from typing import Any

import pytest
from engine_cases import (
    AWQ,
    CT,
    FP8,
    GPTQ,
    HEAD,
    LLAMA,
    NVFP4,
    SINGLE,
    Json,
    Made,
    Tensors,
    awq,
    ct,
    ct_packed,
    fp8,
    fp8_tensor,
    gptq,
    nf4,
    nvfp4,
    of,
    packed,
    tensors,
)

import hfcount
from hfcount.verifier.loaders.engines import compressed_groups, list_matching

LAYER = [f"model.layers.0.self_attn.{part}_proj" for part in "qkvo"]
LAYER += [f"model.layers.0.mlp.{part}_proj" for part in ("gate", "up", "down")]
BNB: Json = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}
MODELOPT: Json = {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]}
FLAT: Json = {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["lm_head"]}
ROUND: Json = {"quant_method": "auto-round", "bits": 4, "group_size": 32, "sym": True, "data_type": "int"}
EXAONE: Json = {**LLAMA, "architectures": ["Exaone4ForCausalLM"], "model_type": "exaone4", "sliding_window": None}
"""Of a class that tells compressed-tensors which projections are put together, in SGLang."""


def rounded(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as auto-round stores it in GPTQ's form: without g_idx."""
    return {name: kind for name, kind in gptq(stem, rows, columns).items() if not name.endswith("g_idx")}


def integers(**changes: Any) -> Json:
    """Settings of packed integers, with changes to how weights are quantised."""
    weights = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True} | changes
    return {**CT, "format": "pack-quantized", "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


def targeted(*targets: str) -> Json:
    (group,) = CT["config_groups"].values()
    return {**CT, "config_groups": {"group_0": {**group, "targets": list(targets)}}}


def without(settings: Json, *keys: str) -> Json:
    return {key: value for key, value in settings.items() if key not in keys}


def of_settings(settings: Json, pack: Any, *left: str, base: Json = LLAMA) -> Made:
    values = {**base, "quantization_config": settings}
    return of(values, packed(tensors(values), pack, *left))


WHOLE = ("whole", "")
METHODS: list[tuple[str, str, tuple[str, str], Json, Any, tuple[str, ...]]] = [
    ("sglang", "GPTQ", WHOLE, GPTQ, gptq, ()),
    ("sglang", "GPTQ in other groups", ("refuses", "marlin_utils.py"), {**GPTQ, "group_size": 16}, gptq, ()),
    ("sglang", "GPTQ in Marlin's order", ("refuses", "gptq.py"), {**GPTQ, "checkpoint_format": "marlin"}, gptq, ()),
    ("sglang", "a pattern", WHOLE, {**GPTQ, "dynamic": {r"-:.*\.0\..*": {}}}, gptq, ("layers.0.",)),
    ("sglang", "no pattern", ("differs", "quantization/utils.py"), GPTQ, gptq, ("layers.0.",)),
    ("sglang", "a part", ("differs", "utils.py"), {**GPTQ, "dynamic": {r"-:.*q_proj": {}}}, gptq, ("q_proj",)),
    ("sglang", "other bits", ("refuses", "utils.py"), {**GPTQ, "dynamic": {"+:.*down.*": {"bits": 3}}}, gptq, ()),
    ("sglang", "no such bits", WHOLE, {**GPTQ, "dynamic": {"+:.*expert.*": {"bits": 3}}}, gptq, ()),
    ("sglang", "groups", ("unknown", "utils.py"), {**GPTQ, "dynamic": {"+:.*down.*": {"group_size": 64}}}, gptq, ()),
    ("sglang", "a dense head", ("differs", "quantization/utils.py"), {**GPTQ, "lm_head": True}, gptq, ()),
    ("sglang", "AWQ of 8 bits", ("refuses", "awq.py"), {**AWQ, "bits": 8}, awq, ()),
    ("sglang", "AWQ without zero_point", ("refuses", "awq.py"), without(AWQ, "zero_point"), awq, ()),
    ("sglang", "AWQ in other groups", ("refuses", "model_loader/loader.py"), {**AWQ, "group_size": 16}, awq, ()),
    ("sglang", "AWQ of a version", ("unknown", "awq.py"), {**AWQ, "version": "gemv"}, awq, ()),
    ("sglang", "part of a name", WHOLE, {**AWQ, "modules_to_not_convert": ["layers.0"]}, awq, ("layers.0.",)),
    ("sglang", "parts", ("differs", "awq.py"), {**AWQ, "modules_to_not_convert": LAYER}, awq, ("layers.0.",)),
    ("sglang", "compressed-tensors", WHOLE, CT, ct, ()),
    ("sglang", "compressed_tensors", ("refuses", "model_config"), {**CT, "quant_method": "compressed_tensors"}, ct, ()),
    ("sglang", "integers", WHOLE, integers(), ct_packed, ()),
    ("sglang", "integers of 3 bits", ("refuses", "compressed_tensors.py"), integers(num_bits=3), ct_packed, ()),
    ("sglang", "integers by group", ("unknown", "wNa16.py"), integers(actorder="group"), ct_packed, ()),
    ("sglang", "integers by weight", WHOLE, integers(actorder="weight"), ct_packed, ()),
    ("sglang", "MXFP8", ("refuses", "compressed_tensors.py"), {**CT, "format": "mxfp8-quantized"}, ct, ()),
    ("sglang", "all parts", ("differs", "utils.py"), {**CT, "ignore": ["lm_head", *LAYER]}, ct, ("layers.0.",)),
    ("sglang", "re:", WHOLE, {**CT, "ignore": ["lm_head", r"re:.*\.layers\.0\."]}, ct, ("layers.0.",)),
    ("sglang", "end of a name", WHOLE, {**CT, "ignore": ["lm_head", "0.mlp.down_proj"]}, ct, ("0.mlp.down_",)),
    ("sglang", "targets for all", WHOLE, targeted("re:.*self_attn.*", "re:.*mlp.*"), ct, ()),
    ("sglang", "targets for some", ("refuses", "compressed_tensors/utils.py"), targeted("re:.*mlp.*"), ct, ()),
    ("sglang", "ModelOpt", WHOLE, MODELOPT, fp8_tensor, ()),
    ("vllm", "ModelOpt", WHOLE, MODELOPT, fp8_tensor, ()),
    ("sglang", "glob", WHOLE, {**MODELOPT, "ignore": ["lm_head", "model.layers.0*"]}, fp8_tensor, ("layers.0.",)),
    ("sglang", "component", WHOLE, {**MODELOPT, "ignore": ["lm_head", "down_proj"]}, fp8_tensor, ("down_proj",)),
    ("sglang", "head not excluded", ("differs", "modelopt_quant.py"), {**MODELOPT, "ignore": []}, fp8_tensor, ()),
    ("vllm", "head not excluded", ("differs", "modelopt.py"), {**MODELOPT, "ignore": []}, fp8_tensor, ()),
    ("sglang", "SmoothQuant", ("refuses", "modelopt_q"), {**MODELOPT, "quant_algo": "INT8_SQ"}, fp8_tensor, ()),
    ("vllm", "SmoothQuant", ("refuses", "modelopt.py"), {**MODELOPT, "quant_algo": "INT8_SQ"}, fp8_tensor, ()),
    ("sglang", "NVFP4", WHOLE, FLAT, nvfp4, ()),
    ("vllm", "NVFP4", WHOLE, FLAT, nvfp4, ()),
    ("sglang", "NVFP4 and a dense module", ("refuses", "modelopt_quant.py"), FLAT, nvfp4, ("0.mlp.down_",)),
    ("vllm", "NVFP4, head not excluded", ("refuses", "modelopt.py"), {**FLAT, "ignore": []}, nvfp4, ()),
    ("sglang", "W4A8_MXFP4", ("refuses", "modelopt_quant.py"), {**FLAT, "quant_algo": "W4A8_MXFP4"}, nvfp4, ()),
    ("vllm", "mxfp4", ("refuses", "modelopt.py"), {**FLAT, "quant_algo": "mxfp4"}, nvfp4, ()),
    ("sglang", "bitsandbytes", ("differs", "model_loader/loader.py"), BNB, nf4, ()),
    ("sglang", "storage", ("refuses", "bitsandbytes.py"), {**BNB, "bnb_4bit_quant_storage": "bfloat16"}, nf4, ()),
    ("sglang", "w8a8_int8", ("unknown", "w8a8_int8.py"), {"quant_method": "w8a8_int8"}, ct, ()),
    ("sglang", "auto-round", WHOLE, ROUND, rounded, ()),
    ("vllm", "auto-round", WHOLE, ROUND, rounded, ()),
    ("sglang", "auto-round of 3 bits", ("refuses", "gptq_linear.py"), {**ROUND, "bits": 3}, rounded, ()),
    ("sglang", "auto-round, no sym", ("refuses", "auto_round.py"), without(ROUND, "sym"), rounded, ()),
    ("sglang", "dense in a block", ("differs", "auto_round.py"), ROUND, rounded, ("layers.0.",)),
    ("vllm", "dense in a block", ("refuses", "config_parser.py"), ROUND, rounded, ("layers.0.",)),
    ("vllm", "torchao", ("unknown", "default_loader.py"), {"quant_method": "torchao"}, ct, ()),
]
"""Engine, name, outcome with a part of its source, settings, how modules are packed, and which are left dense."""


def outcome(made: Made, library: str, folder: Path) -> tuple[str, str]:
    """The outcome of a checkpoint, and its source."""
    report = hfcount.verify(made.write(folder), loaders=[library])
    (reader,) = (reader for reader in report.loaders if reader.loader == library)
    return reader.outcome, reader.source


def check(made: Made, library: str, expected: tuple[str, str], folder: Path) -> None:
    found, source = outcome(made, library, folder)
    assert (found, expected[1] in source, ":" in source) == (expected[0], True, True), source


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", METHODS, ids=lambda case: f"{case[0]}: {case[1]}")
def test_method(case: Any, tmp_path: Path) -> None:
    library, _, expected, settings, pack, left = case
    check(of_settings(settings, pack, *left), library, expected, tmp_path / "model")


PARTS = {
    "all": (WHOLE, LAYER, "layers.0."),
    "q alone": (("refuses", "compressed_tensors/utils.py"), LAYER[:1], "0.self_attn.q_"),
}


@pytest.mark.parametrize("parts", PARTS)
def test_parts_that_a_class_tells(parts: str, tmp_path: Path) -> None:
    expected, ignored, left = PARTS[parts]
    made = of_settings({**CT, "ignore": ["lm_head", *ignored]}, ct, left, base=EXAONE)
    check(made, "sglang", expected, tmp_path / "model")


@pytest.mark.parametrize(("said", "expected"), [(False, ("differs", "utils.py")), (True, WHOLE)])
def test_a_packed_head(said: bool, expected: tuple[str, str], tmp_path: Path) -> None:
    made = of_settings({**GPTQ, "lm_head": said}, gptq)
    stored = without(dict(made.files[SINGLE]), HEAD) | gptq("lm_head", 96, 64)
    found, source = outcome(of(made.values, stored), "sglang", tmp_path / "model")
    assert found == expected[0] and expected[1] in source


@pytest.mark.parametrize(("size", "expected"), [(16, WHOLE), (None, ("refuses", "modelopt_quant.py"))])
def test_groups_of_modelopt_beside(size: int | None, expected: tuple[str, str], tmp_path: Path) -> None:
    settings = {**NVFP4, "quantization": {**NVFP4["quantization"], "group_size": size}}
    made = of(LLAMA, packed(tensors(LLAMA), nvfp4), hf_quant_config__json=settings)
    check(made, "sglang", expected, tmp_path / "model")


MIXTRAL: Json = {
    **LLAMA,
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "intermediate_size": 64,
    "num_local_experts": 2,
    "num_experts_per_tok": 1,
}
DEEPSEEK: Json = {
    **without(LLAMA, "head_dim"),
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "q_lora_rank": 32,
    "kv_lora_rank": 32,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "num_nextn_predict_layers": 0,
}
GLM: Json = {
    **LLAMA,
    "architectures": ["Glm4MoeForCausalLM"],
    "model_type": "glm4_moe",
    **{key: DEEPSEEK[key] for key in ("moe_intermediate_size", "first_k_dense_replace", "n_routed_experts")},
    **{key: DEEPSEEK[key] for key in ("n_shared_experts", "num_experts_per_tok", "n_group", "topk_group")},
    "num_nextn_predict_layers": 0,
}


def in_fp8(values: Json, *left: str, **settings: Any) -> Made:
    """A model of which every matrix is in FP8 but routers, the embedding and the head."""
    values = {**values, "quantization_config": {**FP8, **settings}}
    stored: Tensors = {}
    for name, (dtype, shape) in tensors(values).items():
        dense = len(shape) != 2 or any(part in name for part in (".gate.weight", "embed_tokens", "lm_head", *left))
        stored |= {name: (dtype, shape)} if dense else fp8(name.removesuffix(".weight"), *shape)
    return of(values, stored)


@pytest.mark.parametrize("values", [DEEPSEEK, GLM, MIXTRAL], ids=lambda values: values["model_type"])
def test_experts_in_fp8_beside_routers_that_are_always_dense(values: Json, tmp_path: Path) -> None:
    check(in_fp8(values), "vllm", WHOLE, tmp_path / "packed")
    check(in_fp8(values, modules_to_not_convert=["lm_head"]), "vllm", WHOLE, tmp_path / "listed")
    assert outcome(in_fp8(values, "o_proj"), "vllm", tmp_path / "dense")[0] != "whole"
    assert outcome(in_fp8(values, ".experts.0."), "vllm", tmp_path / "expert")[0] != "whole"
    assert outcome(in_fp8(values, weight_block_size=[48, 48]), "vllm", tmp_path / "blocks")[0] != "whole"


GROUPS = {
    "W8A8": (ct_group := CT["config_groups"]["group_0"], "float-quantized", ""),
    "integers with inputs": (ct_group | {"weights": {"num_bits": 4, "type": "int"}}, "int-quantized", "refuses"),
    "no weights": ({"targets": ["Linear"]}, "float-quantized", "unknown"),
}


@pytest.mark.parametrize("name", GROUPS)
def test_schemes_of_compressed_tensors(name: str) -> None:
    group, form, expected = GROUPS[name]
    found = [one.outcome for one in compressed_groups.of_groups({"format": form, "config_groups": {"0": group}})]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("patterns", "name", "excluded"),
    [
        (["lm_head"], "lm_head", True),
        (["mtp*"], "model.mtp_layers.0.fc", True),
        (["model.layers.0"], "model.layers.0.mlp.down_proj", True),
        (["model.layers.1"], "model.layers.10.mlp.down_proj", False),
        (["q_proj", "k_proj", "v_proj"], "model.layers.0.self_attn.qkv_proj", True),
        (["q_proj"], "model.layers.0.self_attn.qkv_proj", False),
    ],
)
def test_exclusions_of_modelopt(patterns: list[str], name: str, excluded: bool) -> None:
    assert list_matching.is_excluded(name, patterns) is excluded
