"""Which numbers of ranks can share a model, what each holds, and what fits: worked out by hand, and judged."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from build import Json, save
from conftest import Command
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT
from tables import over

import hfcount
from hfcount.blueprints.build import blueprint
from hfcount.mapper.quantization_config import announcements
from hfcount.options import CACHE_ALIASES
from hfcount.serving.cost import MixerCost, Workload, cost
from hfcount.serving.fitting import Cache, fit
from hfcount.serving.memory import costs
from hfcount.serving.sharding.sharing import Sharing
from hfcount.serving.sharding.sizes import padded
from hfcount.spec.tree.leaves import Leaf

ARCHITECTURES = sorted((ROOT / "fixtures" / "architectures").glob("*.json"))
RECORDED = {path.stem: path for path in ARCHITECTURES}


def described(kind: str, hidden: int, width: int, heads: int, kv_heads: int | None, vocab: int, **more: Any) -> Json:
    """A config of two layers, with the usual keys."""
    shared = {} if kv_heads is None else {"num_key_value_heads": kv_heads}
    sizes = {"hidden_size": hidden, "intermediate_size": width, "num_hidden_layers": 2, "vocab_size": vocab}
    return {"model_type": kind, "dtype": "bfloat16", **sizes, "num_attention_heads": heads, **shared, **more}


def recorded(name: str, **changes: Any) -> Json:
    known: Json = json.loads(RECORDED[name].read_text(encoding="utf-8"))["config"]
    return known | changes


def sharing(values: Json) -> Sharing:
    return Sharing(blueprint(values), announcements(values))


AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}
WHOLE_FP8 = {"quant_method": "fp8"}
W4A16 = {
    "quant_method": "compressed-tensors",
    "format": "pack-quantized",
    "ignore": ["lm_head"],
    "config_groups": {
        "all": {
            "targets": ["Linear"],
            "weights": {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 128},
        }
    },
}
FORTY = described("llama", 5120, 13824, 40, 40, 32000)
QWEN3 = described("qwen3", 5120, 25600, 64, 8, 151936, head_dim=128)
ODD = described("llama", 1024, 5 * 128 * 4, 16, 4, 32000)  # 20 groups, of which 8 ranks have 2.5 each
EXPERTS = described(
    "qwen3_moe", 4096, 12288, 64, 4, 151936, head_dim=128, moe_intermediate_size=1536, num_experts=128,
    num_experts_per_tok=8,
)  # fmt: skip
FEW_EXPERTS = described(
    "qwen3_moe", 512, 1024, 8, 4, 512, head_dim=128, moe_intermediate_size=768, num_experts=4, num_experts_per_tok=2,
)  # fmt: skip
SMALL_HEADS = described("qwen3", 2048, 8192, 32, 8, 32000, head_dim=64)


@pytest.mark.parametrize(
    ("values", "working"),
    [
        (FORTY, (1, 2, 4, 8)),  # 13,824 channels are 2⁹·27, so that 5 ranks cannot share what 40 heads let them
        (described("llama", 6656, 17920, 52, 52, 32000), (1, 2, 4)),
        (FORTY | {"intermediate_size": 13824 * 5}, (1, 2, 4, 5, 8, 10, 20, 40)),
        (QWEN3, (1, 2, 4, 8, 16, 32, 64)),
        (described("llama", 3072, 8192, 24, 8, 128256), (1, 2, 4, 8)),
        (described("llama", 3072, 8448, 24, 3, 128256), (1, 3, 6, 12, 24)),
        (EXPERTS, (1, 2, 4, 8, 16, 32, 64)),
        (EXPERTS | {"quantization_config": FP8}, (1, 2, 4, 8, 16)),  # vLLM makes blocks of 64 and 32 of these experts
        # A group may be as narrow as an expert.
        (EXPERTS | {"quantization_config": AWQ}, (1, 2, 4)),
        (QWEN3 | {"quantization_config": AWQ}, (1, 2, 4, 8)),
        (ODD, (1, 2, 4, 8, 16)),
        (ODD | {"quantization_config": AWQ}, (1, 2, 4)),
        (ODD | {"quantization_config": GPTQ}, (1, 2, 4)),
        (ODD | {"quantization_config": W4A16}, (1, 2, 4)),
        (ODD | {"quantization_config": GPTQ | {"group_size": -1}}, (1, 2, 4, 8, 16)),
        (ODD | {"quantization_config": AWQ | {"group_size": -1}}, (1,)),
        # Blocks of 128 outputs: two heads of keys.
        (SMALL_HEADS, (1, 2, 4, 8, 16, 32)),
        (SMALL_HEADS | {"quantization_config": FP8}, (1, 2, 4)),
        (recorded("deepseek_v3", num_attention_heads=128, moe_intermediate_size=2048, intermediate_size=18432),
         (1, 2, 4, 8, 16, 32, 64, 128)),
        (recorded("mamba2", num_heads=128, n_groups=8), (1, 2, 4, 8)),
        (recorded("mamba2", num_heads=128, n_groups=1), (1, 2, 4, 8, 16, 32, 64, 128)),
        (recorded("qwen3_next", linear_num_key_heads=16, linear_num_value_heads=32, num_attention_heads=16,
                  num_key_value_heads=2, moe_intermediate_size=512, shared_expert_intermediate_size=512,
                  intermediate_size=5120), (1, 2, 4, 8, 16)),
    ],
)  # fmt: skip
def test_numbers_of_ranks(values: Json, working: tuple[int, ...]) -> None:
    found = sharing(values)
    assert found.why == ""
    assert found.working == working


@pytest.mark.parametrize(
    ("values", "ranks", "said", "key", "engines"),
    [
        (FORTY, 3, "40 query heads (num_attention_heads): 40 / 3 is not a whole number", "num_attention_heads", 2),
        (QWEN3, 6, "8 key/value heads (num_key_value_heads): neither 8 / 6 nor 6 / 8", "num_attention_heads", 2),
        (EXPERTS, 128, "64 / 128 is not a whole number (QKVParallelLinear of vLLM 0.33 and SGLang 0.5.23)",
         "num_attention_heads", 2),
        (ODD | {"quantization_config": AWQ}, 8, "2,560 / 128 = 20 groups, and 2,560 / 8 = 320 is not a multiple of 128",
         "intermediate_size", 2),
        (EXPERTS | {"quantization_config": FP8}, 8, "1,536 / 128 = 12 blocks, and 1,536 / 8 = 192 is not a multiple",
         "moe_intermediate_size", 1),
        (EXPERTS | {"quantization_config": FP8}, 32, "1,536 / 32 = 48 is not a multiple of 128 (vLLM 0.33 and SGLang",
         "moe_intermediate_size", 2),
        # Twelve heads on three ranks, whose rows of a vocabulary of 64·k are no third of it.
        (described("llama", 768, 3072, 12, 12, 32000), 3, "32,000 / 3 is not a whole number (VocabParallelEmbedding of"
         " vLLM", "vocab_size", 1),
        (recorded("mamba2", num_heads=128, n_groups=1, quantization_config=WHOLE_FP8), 2,
         "MambaMixer2 of SGLang", None, 1),
    ],
)  # fmt: skip
def test_obstacles(values: Json, ranks: int, said: str, key: str | None, engines: int) -> None:
    found = sharing(values).obstacles(ranks)
    assert said in "; ".join(one.text for one in found)
    assert found[0].key == key or key is None
    assert {len(one.engines) for one in found} == {engines}


def test_queries_keys_and_values_in_one_map_are_split_apart() -> None:
    """Of a fused map a rank has its heads of each: of queries a share, of keys and values a copy."""
    values = recorded("phi3", num_attention_heads=32, num_key_value_heads=2, hidden_size=4096, intermediate_size=8192)
    (fused,) = [leaf for leaf in sharing(values).rank(8) if leaf.name.endswith("qkv_proj.weight")]
    assert fused.shape == ((32 // 8 + 2 * 1) * 128, 4096)


# Bytes of bfloat16: of all that is split, a share; norms (d each) and the router (n·d) whole.
_QWEN3_SPLIT = 2 * 151936 * 5120 + 2 * (2 * 64 * 128 * 5120 + 2 * 8 * 128 * 5120 + 3 * 5120 * 25600)
_QWEN3_WHOLE = 5 * 5120 + 2 * 2 * 128
_EXPERTS_SPLIT = 2 * 151936 * 4096 + 2 * (2 * 64 * 128 * 4096 + 2 * 4 * 128 * 4096 + 128 * 3 * 4096 * 1536)
_EXPERTS_WHOLE = 5 * 4096 + 2 * 2 * 128 + 2 * 128 * 4096


@pytest.mark.parametrize(
    ("values", "ranks", "elements"),
    [
        (QWEN3, 1, _QWEN3_SPLIT + _QWEN3_WHOLE),
        (QWEN3, 8, _QWEN3_SPLIT // 8 + _QWEN3_WHOLE),
        # Sixteen ranks have a head of keys and one of values each, twice as many as there are.
        (QWEN3, 16, (_QWEN3_SPLIT + 2 * 2 * 8 * 128 * 5120) // 16 + _QWEN3_WHOLE),
        (EXPERTS, 4, _EXPERTS_SPLIT // 4 + _EXPERTS_WHOLE),
        # A vocabulary that four ranks share is filled up to 64·k rows.
        (described("llama", 64, 128, 4, 4, 100), 2, (2 * 128 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128)) // 2 + 5 * 64),
    ],
)
def test_weights_of_a_rank(values: Json, ranks: int, elements: int, tmp_path: Path) -> None:
    report = verified(values, tmp_path, tp=[ranks])
    assert report.memory is not None
    assert [one.weights_bytes for one in report.memory.ranks] == [2 * elements]


def verified(values: Json, folder: Path, **asked: Any) -> hfcount.Report:
    save(folder / "org" / "name", values)
    return hfcount.verify("org/name", fixtures=folder, depth="config", **asked)


@pytest.mark.parametrize(
    ("values", "ranks", "per_token", "state"),
    [
        (QWEN3, 4, 2 * 2 * 2 * 2 * 128, 0),
        (QWEN3, 8, 2 * 2 * 1 * 2 * 128, 0),
        (QWEN3, 32, 2 * 2 * 1 * 2 * 128, 0),
        # Every rank has all of a latent, from which each computes its heads.
        (recorded("deepseek_v3", num_attention_heads=128, dtype="bfloat16"), 2, None, 0),
        (recorded("mamba2", num_heads=128, n_groups=8, dtype="bfloat16"), 8, 0, None),
    ],
)
def test_cache_of_a_rank(values: Json, ranks: int, per_token: int | None, state: int | None, tmp_path: Path) -> None:
    memory = verified(values, tmp_path, tp=[ranks], context=100, kv_dtype="bfloat16").memory
    assert memory is not None
    (one,) = memory.ranks
    assert memory.state_bytes is not None
    assert one.kv_bytes_per_token == (memory.kv_bytes_per_token if per_token is None else per_token)
    assert one.state_bytes == (memory.state_bytes // ranks if state is None else state)
    assert one.weights_bytes is not None
    assert one.kv_bytes is not None
    assert one.total_bytes == one.weights_bytes + one.kv_bytes


def test_quantised_weights_of_a_rank(tmp_path: Path) -> None:
    """A group of 128 weights of 4 bits has a scale of 2 bytes and a zero of 4 bits."""
    values = described("llama", 1024, 2048, 8, 8, 640, quantization_config=AWQ, dtype="float16")
    packed = 2 * (4 * 1024 * 1024 + 3 * 1024 * 2048)
    dense = 2 * 640 * 1024
    memory = verified(values, tmp_path, tp=[2]).memory
    assert memory is not None
    assert [one.weights_bytes for one in memory.ranks] == [
        (packed // 2 + packed // 128 * 2 + packed // 128 // 2 + 2 * dense) // 2 + 2 * 5 * 1024
    ]


def test_what_cannot_be_shared_is_an_error_where_it_is_asked_for(tmp_path: Path) -> None:
    assert verified(FORTY, tmp_path).findings == ()
    report = verified(FORTY, tmp_path, tp=[8, 3, 8, 7])
    assert [(one.code, one.severity, one.observed, one.key) for one in report.findings] == [
        ("HF601", "error", 3, "num_attention_heads"),
        ("HF601", "error", 7, "num_attention_heads"),
    ]
    assert "These numbers of GPUs can share it (up to 128): 1, 2, 4, 8." in report.findings[0].message
    assert report.findings[0].expected == (1, 2, 4, 8)
    assert report.memory is not None
    assert [(one.ranks, one.works) for one in report.memory.ranks] == [(8, True), (3, False), (7, False)]


def test_what_one_engine_can_is_a_note(tmp_path: Path) -> None:
    report = verified(described("llama", 768, 3072, 12, 12, 32000), tmp_path, tp=[3])
    assert [(one.code, one.severity) for one in report.findings] == [("HF601", "note")]
    assert "cannot share this model in vLLM" in report.findings[0].message


@pytest.mark.parametrize(
    ("values", "ranks", "severities"),
    [
        pytest.param(
            FEW_EXPERTS | {"quantization_config": FP8}, 4, {"": "note", "vllm": "note", "sglang": "error"}, id="blocks"
        ),
        pytest.param(
            described("llama", 768, 3072, 12, 12, 32000), 3, {"vllm": "error", "sglang": "note", "mlx-lm": "note"},
            id="rows of a vocabulary",
        ),
        pytest.param(FORTY, 3, {"vllm": "error", "sglang": "error"}, id="heads"),
    ],
)  # fmt: skip
def test_the_rules_are_those_of_the_engine_asked_for(
    values: Json, ranks: int, severities: dict[str, str], tmp_path: Path
) -> None:
    for library, severity in severities.items():
        report = verified(values, tmp_path, tp=[ranks], loaders=[library] if library else [])
        (finding,) = [finding for finding in report.findings if finding.code == "HF601"]
        answer = "no" if severity == "error" else "yes"
        assert (library, finding.severity) == (library, severity)
        assert report.serving and [one.answer for one in report.serving.answers] == [answer]
        assert report.memory and [one.works for one in report.memory.ranks] == [severity == "note"]


def test_experts_may_be_shared_whole(tmp_path: Path) -> None:
    (finding,) = verified(EXPERTS | {"quantization_config": FP8}, tmp_path, tp=[8]).findings
    assert "8 can if each holds 16 whole experts" in finding.message
    (finding,) = verified(ODD | {"quantization_config": AWQ}, tmp_path, tp=[8]).findings
    assert "experts" not in finding.message


@pytest.mark.parametrize("name", ["rwkv", "recurrent_gemma", "vit"])
def test_what_no_engine_splits_is_unknown(name: str, tmp_path: Path) -> None:
    report = verified(recorded(name), tmp_path, tp=[2])
    assert report.findings == ()
    assert report.memory is not None
    assert report.memory.ranks_why
    assert [one.works for one in report.memory.ranks] == [None]


@over("path", ARCHITECTURES, ids=RECORDED, every=10)
def test_ranks_together_hold_the_model(path: Path) -> None:
    """Together at least all of it, and none more; of each tensor one axis is split at most."""
    found = sharing(json.loads(path.read_text(encoding="utf-8"))["config"])
    ranks = next((number for number in (2, 3, 4, 5, 7) if not found.why and found.works(number)), None)
    if ranks is None:
        return
    for leaf, own in zip(found.leaves, found.rank(ranks), strict=True):
        split = [
            place
            for place, (all_of_it, part) in enumerate(zip(leaf.shape, own.shape, strict=True))
            if all_of_it != part
        ]
        assert len(split) <= 1, leaf.name
        assert ranks * own.size >= leaf.size or leaf.component == "embedding"
        if own.size > leaf.size:  # few words, which are filled up
            assert leaf.component in ("embedding", "lm_head"), leaf.name
            assert own.shape == (padded(int(leaf.shape[0]), ranks) // ranks, *leaf.shape[1:])


@over("path", ARCHITECTURES, ids=RECORDED, every=10)
def test_bytes_of_a_rank_are_between_a_share_and_all(path: Path) -> None:
    """A vocabulary that is filled up may make all of it a little more."""
    values = json.loads(path.read_text(encoding="utf-8"))["config"]
    load = Workload(1000, 2, "bfloat16", (1, 2, 3, 4, 8), 80 << 30)
    memory, _ = costs(blueprint(values), load, sharing=sharing(values))
    whole = memory.ranks[0]
    for one in memory.ranks[1:]:
        if one.works and whole.weights_bytes is not None and one.weights_bytes is not None:
            assert whole.weights_bytes / one.ranks <= one.weights_bytes <= 1.1 * whole.weights_bytes
        if one.works and whole.kv_bytes is not None and one.kv_bytes is not None:
            assert whole.kv_bytes / one.ranks <= one.kv_bytes <= whole.kv_bytes


WHOLE = re.compile(r"vision_adapter|dt_proj")
"""Maps that transformers splits, and that every rank is taken to hold whole or splits the other way: they are small."""


@pytest.mark.long
@over("path", ARCHITECTURES, ids=RECORDED)
def test_transformers_splits_the_same_maps_the_same_way(path: Path) -> None:
    """Its plans say which maps are split along their outputs (colwise), and which along their inputs (rowwise)."""
    transformers = pytest.importorskip("transformers", reason="it is not installed: pip install '.[oracle]'")
    values = json.loads(path.read_text(encoding="utf-8"))["config"]
    known = values.get("model_type") in transformers.CONFIG_MAPPING
    plan = known and getattr(transformers.CONFIG_MAPPING[values["model_type"]], "base_model_tp_plan", None)
    found = sharing(values) if plan else None
    ranks = found and next((number for number in (2, 4, 3, 5, 7) if not found.why and found.works(number)), None)
    if not plan or found is None or not ranks:
        return
    rules = {re.compile(r"(?:.*\.)?" + re.escape(name).replace(r"\*", r"\d+")): how for name, how in plan.items()}
    for leaf, own in zip(found.leaves, found.rank(ranks), strict=True):
        module = leaf.first.removesuffix(".weight")
        how = next((how for rule, how in rules.items() if rule.fullmatch(module)), None)
        if isinstance(how, str) and how in _SPLIT[len(leaf.shape)] and not WHOLE.search(module) and not _copied(leaf):
            assert own.shape[_SPLIT[len(leaf.shape)][how]] * ranks == leaf.shape[_SPLIT[len(leaf.shape)][how]], (
                leaf.name
            )


_SPLIT: dict[int, dict[str, int]] = {
    1: {},
    2: {"colwise": 0, "rowwise": 1},
    3: {"packed_colwise": 1, "rowwise": 2},
    4: {},
}
"""The axis that a plan splits, by the number of axes."""


def _copied(leaf: Leaf) -> bool:
    """Whether it makes the keys or values of a single head, which every rank needs."""
    return any(
        getattr(one, "terms", {}) and "h_kv" in str(one.terms) and "value=1," in str(one.terms) for one in leaf.shape
    )


@given(
    st.integers(0, 10**12), st.integers(0, 10**6), st.integers(0, 10**6), st.one_of(st.none(), st.integers(1, 10**6)),
    st.integers(1, 64), st.integers(1, 10**13),
)  # fmt: skip
def test_the_largest_context_fits_and_one_token_more_does_not(
    weights: int, per_token: int, state: int, window: int | None, batch: int, memory: int
) -> None:
    cache = Cache([MixerCost("GQA", 3, per_token, state, window)], 2)
    found = fit(weights, cache, Workload(batch=batch, memory=memory))
    most = found["largest_context"]
    assert found["fits"] == (weights + cache.size(batch, 1) <= memory)
    assert found["fits"] == (most != 0)
    if most:
        assert weights + cache.size(batch, most) <= memory
    if most is not None:
        assert weights + cache.size(batch, most + 1) > memory


def test_an_unknown_cache_or_weight_leaves_it_open() -> None:
    grows = Cache([MixerCost("GQA", 1, 8)], None)
    asked = Workload(context=10, memory=100)
    assert fit(1, grows, asked)["fits"] is None
    assert fit(None, grows._replace(cell=2), asked)["fits"] is None
    assert fit(None, grows._replace(cell=2), asked)["kv_bytes"] == 160
    assert fit(1, None, asked)["fits"] is None
    assert fit(1, Cache([], None), asked)["fits"] is True


@pytest.mark.parametrize(
    "memory",
    [
        *("", "80", "80GiB", "80 GiB", "80Gi", "80G", "24,576MiB", "1.5TB", "0", "GiB", "-1", "80 XiB", "1e3", "5 B"),
        *("H100", "rtx 4090", "NVIDIA A100-40GB", "H100 SXM", "H100x"),
    ],
)
def test_amounts_of_memory(memory: str, tmp_path: Path) -> None:
    bytes_of = {"80GiB": 80 << 30, "80 GiB": 80 << 30, "80Gi": 80 << 30, "24,576MiB": 24 << 30, "5 B": 5}
    bytes_of |= {"80G": 80 * 10**9, "1.5TB": 1_500_000_000_000, "H100": 80 * 10**9, "H100 SXM": 80 * 10**9}
    bytes_of |= {"rtx 4090": 24 * 10**9, "NVIDIA A100-40GB": 40 * 10**9}
    if memory in bytes_of:
        report = verified(QWEN3, tmp_path, memory=memory)
        assert report.memory is not None
        assert report.memory.available_bytes == bytes_of[memory]
    else:
        with pytest.raises(ValueError, match="memory"):
            verified(QWEN3, tmp_path, memory=memory)


@pytest.mark.parametrize("alias", ["fp8", "fp8_e5m2", "bf16"])
def test_dtypes_of_the_cache_are_understood_as_engines_call_them(alias: str, tmp_path: Path) -> None:
    per_token = [verified(QWEN3, tmp_path, context=8, kv_dtype=name).memory for name in (alias, CACHE_ALIASES[alias])]
    assert per_token[0] == per_token[1] is not None


def test_ranks_may_be_given_at_once(command: Command) -> None:
    outputs = [
        command("--fixtures", "fixtures", "org/verified", "--format", "json", *given).out
        for given in (["--tp", "1, 2"], ["--tp", "1", "--tp", "2"])
    ]
    assert outputs[0] == outputs[1] != ""
    for wrong in ("1,x", "0", "2,,4", "65537", "10000000000", "-2"):
        result = command("org/verified", "--tp", wrong)
        assert (result.code, "is not a whole number from 1 to 65,536" in result.err) == (2, True)


def test_an_amount_without_a_unit_is_asked_about(command: Command) -> None:
    result = command("org/verified", "--memory", "80")
    assert (result.code, "80GiB" in result.err) == (2, True)


@pytest.mark.parametrize("wrong", [{"tp": [0]}, {"tp": [True]}, {"memory": 0}, {"memory": 1.5}])
def test_impossible_loads(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="whole number"):
        verified(QWEN3, tmp_path, **wrong)


def test_a_cache_is_that_of_the_model_for_one_rank(tmp_path: Path) -> None:
    memory = verified(QWEN3, tmp_path, tp=[1], context=64, batch=3, memory="80GiB").memory
    assert memory is not None
    (one,) = memory.ranks
    same = ("weights_bytes", "kv_bytes_per_token", "state_bytes", "kv_bytes", "total_bytes", "fits", "largest_context")
    assert [getattr(one, name) for name in same] == [getattr(memory, name) for name in same]
    assert memory.kv_bytes == 3 * 2 * sum(part.elements(64) for part in cost(blueprint(QWEN3)).kept)
