"""hfcount's names and shapes against those that transformers itself would save.

transformers builds each model on the meta device, without weights, and its own save path names the tensors. It shares
no code with hfcount, so agreement means something. Configs are small: names and shapes do not care.
"""

import json
from pathlib import Path
from typing import Any
from unittest.mock import sentinel

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers_oracle import RECORDED, Json, described, model_of, saved, torch

import hfcount

ABSENT: Any = sentinel.absent  # in a row: the key is not there, which is not the same as null

STEMS = {
    "llama": "Llama",
    "mistral": "Mistral",
    "mixtral": "Mixtral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "qwen3_moe": "Qwen3Moe",
}
HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")

SIZES: Json = {
    "vocab_size": 32,
    "hidden_size": 24,
    "intermediate_size": 20,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
MIXTRAL: Json = {"num_local_experts": 3, "num_experts_per_tok": 2}
ROUTED: Json = {"head_dim": 8, "moe_intermediate_size": 10, "num_experts": 4, "num_experts_per_tok": 2}
FAMILY: dict[str, Json] = {"mixtral": MIXTRAL, "qwen3_moe": ROUTED}

MHA: Json = {"num_key_value_heads": 4}
MQA: Json = {"num_key_value_heads": 1}
NULL: Json = {"num_key_value_heads": None}
WIDE: Json = {"head_dim": 16}  # heads that are wider, all together, than the model
NARROW: Json = {"head_dim": 2}
BIASED: Json = {"attention_bias": True}
TIED: Json = {"tie_word_embeddings": True}
UNTIED: Json = {"tie_word_embeddings": False}
DEEP: Json = {"num_hidden_layers": 12}  # layer numbers of two digits
THREE: Json = {"id2label": {"0": "a", "1": "b", "2": "c"}, "label2id": {"a": 0, "b": 1, "c": 2}}

# The config of a row is that of its family (SIZES and FAMILY) with what the row says; None is null.
CASES: list[tuple[str, str, Json]] = [
    ("llama", "ForCausalLM", UNTIED),
    ("llama", "ForCausalLM", TIED | DEEP),
    ("llama", "ForCausalLM", BIASED),
    ("llama", "ForCausalLM", {"mlp_bias": True}),
    ("llama", "ForCausalLM", BIASED | {"mlp_bias": True} | TIED | MQA | WIDE),
    ("llama", "ForCausalLM", MHA | NARROW),
    ("llama", "ForCausalLM", NULL | {"head_dim": None}),
    ("llama", "ForCausalLM", {"num_key_value_heads": ABSENT}),
    ("llama", "ForSequenceClassification", THREE | BIASED),
    ("mistral", "ForCausalLM", UNTIED),
    ("mistral", "ForCausalLM", TIED | MHA),
    ("mistral", "ForCausalLM", WIDE | MQA | DEEP),
    ("mistral", "ForCausalLM", {"head_dim": None}),
    ("mistral", "ForCausalLM", {"sliding_window": 8}),
    ("mistral", "ForSequenceClassification", THREE | TIED),
    ("mixtral", "ForCausalLM", UNTIED),
    ("mixtral", "ForCausalLM", TIED | MHA | WIDE),
    ("mixtral", "ForCausalLM", {"head_dim": None}),
    ("mixtral", "ForCausalLM", MQA | {"num_local_experts": 11, "num_experts_per_tok": 1}),
    ("mixtral", "ForCausalLM", {"num_local_experts": ABSENT, "num_experts": 5}),
    ("mixtral", "ForTokenClassification", THREE),
    ("qwen2", "ForCausalLM", UNTIED),
    ("qwen2", "ForCausalLM", TIED | MQA | DEEP),
    ("qwen2", "ForCausalLM", MHA),
    ("qwen2", "ForCausalLM", NULL),
    ("qwen2", "ForCausalLM", WIDE),
    ("qwen2", "ForCausalLM", {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}),
    ("qwen2", "ForTokenClassification", THREE),
    ("qwen3", "ForCausalLM", UNTIED),  # no head_dim: 128
    ("qwen3", "ForCausalLM", TIED | NARROW),
    ("qwen3", "ForCausalLM", BIASED | WIDE | MQA | DEEP),
    ("qwen3", "ForCausalLM", NULL | WIDE),
    ("qwen3", "ForCausalLM", {"hidden_size": 21} | NARROW),
    ("qwen3", "ForSequenceClassification", THREE | TIED | WIDE),
    ("qwen3", "ForTokenClassification", {"num_labels": 1}),
    ("qwen3_moe", "ForCausalLM", UNTIED),
    ("qwen3_moe", "ForCausalLM", TIED | BIASED | MQA | {"head_dim": 6}),
    ("qwen3_moe", "ForCausalLM", {"head_dim": ABSENT}),
    ("qwen3_moe", "ForCausalLM", {"num_experts": 5, "num_local_experts": 5}),
    ("qwen3_moe", "ForCausalLM", {"num_experts": ABSENT, "num_local_experts": 4}),
    ("qwen3_moe", "ForCausalLM", {"num_experts": 0}),
    ("qwen3_moe", "ForCausalLM", {"hidden_size": 21, "mlp_only_layers": None}),  # no multiple of the heads
    ("qwen3_moe", "ForCausalLM", DEEP | {"mlp_only_layers": [0, 3, 11]}),
    ("qwen3_moe", "ForCausalLM", DEEP | {"mlp_only_layers": list(range(12))}),
    ("qwen3_moe", "ForCausalLM", DEEP | {"decoder_sparse_step": 2}),
    ("qwen3_moe", "ForCausalLM", DEEP | {"decoder_sparse_step": 3}),
    ("qwen3_moe", "ForCausalLM", DEEP | {"decoder_sparse_step": 3, "mlp_only_layers": [1, 2, 8]}),
    ("qwen3_moe", "ForCausalLM", {"decoder_sparse_step": 3}),  # a step beyond the last layer: no experts
    ("qwen3_moe", "ForSequenceClassification", THREE | {"decoder_sparse_step": 2}),
    *((family, head, {}) for family in STEMS for head in HEADS),
]


def config(family: str, head: str, facts: Json) -> Json:
    """A config.json: the family's small sizes with `facts`."""
    merged = {"model_type": family, "architectures": [STEMS[family] + head], **SIZES, **FAMILY.get(family, {}), **facts}
    return {key: value for key, value in merged.items() if value is not ABSENT}


def assert_agrees(values: Json) -> None:
    """hfcount and transformers say the same of a config.json: names, shapes, and the sum of distinct parameters."""
    with torch.device("meta"):
        model = model_of(values)
    blueprint = hfcount.blueprint(values)
    assert {tensor.name: tensor.shape for tensor in blueprint.tensors()} == saved(model)
    assert blueprint.total == sum(parameter.numel() for parameter in model.parameters())


def _label(case: object) -> str:
    if isinstance(case, dict):
        return ",".join(f"{key}={value}" for key, value in case.items() if key != "label2id").replace(" ", "")
    return str(case)


@pytest.mark.parametrize(("family", "head", "facts"), CASES, ids=_label)
def test_names_and_shapes_are_those_transformers_saves(family: str, head: str, facts: Json) -> None:
    assert_agrees(config(family, head, facts))


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_architectures_are_those_transformers_saves(name: str) -> None:
    blueprint = hfcount.blueprint(RECORDED[name])
    theirs = described(RECORDED[name])
    assert {tensor.name: tensor.shape for tensor in blueprint.tensors()} == {
        name: shape for name, shape in theirs.items() if not name.startswith(blueprint.unmodeled or "\0")
    }


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("name", ["d_fine", "deimv2", "rt_detr", "rt_detr_v2"])
def test_predictions_of_detectors_are_their_decoders_or_their_own(name: str, tied: bool) -> None:
    assert_agrees(RECORDED[name] | {"tie_word_embeddings": tied})


@pytest.mark.parametrize("family", STEMS)
def test_without_architectures_it_is_the_causal_class(family: str) -> None:
    assert_agrees(config(family, "", {"architectures": ABSENT}))


@pytest.mark.parametrize("family", STEMS)
@pytest.mark.parametrize("tied", [True, False])
def test_checkpoint_that_transformers_saves_verifies(family: str, tied: bool, tmp_path: Path) -> None:
    """The oracle's own anchor: real weights, the real save path, and what it wrote."""
    values = config(family, "ForCausalLM", {"tie_word_embeddings": tied})
    model = model_of(values)
    model.save_pretrained(tmp_path, max_shard_size="8KB")

    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"]) == set(saved(model))
    report = hfcount.verify(str(tmp_path))
    assert [finding.message for finding in report.findings] == []
    assert [check for check in report.checks if not check.agrees] == []
    assert report.verdict == "verified"


@st.composite
def configs(draw: st.DrawFn, family: str) -> Json:
    """A small config.json of the family: any combination that transformers builds."""
    flag, routed = st.sampled_from([ABSENT, False, True]), family in FAMILY
    kv_heads, group = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    heads, layers, experts = kv_heads * group, draw(st.integers(1, 12)), draw(st.integers(1, 12))
    head_dim = draw(st.just(ABSENT) | st.integers(1, 9).map(lambda half: 2 * half))
    whole = head_dim is ABSENT or family == "llama"  # whether the heads have to divide the width
    count, other = draw(st.permutations(["num_experts", "num_local_experts"]))
    labels = {str(number): f"label {number}" for number in range(draw(st.integers(1, 5)))}
    facts: Json = {
        "vocab_size": draw(st.integers(1, 40)),
        "hidden_size": heads * 2 * draw(st.integers(1, 3)) if whole else draw(st.integers(1, 40)),
        "intermediate_size": draw(st.integers(1, 40)),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
        "tie_word_embeddings": draw(flag),
        "attention_bias": draw(flag) if family in ("llama", "qwen3", "qwen3_moe") else ABSENT,
        "mlp_bias": draw(flag) if family == "llama" else ABSENT,
        "id2label": draw(st.sampled_from([ABSENT, labels])),
    }
    if routed:
        facts |= {count: experts, other: ABSENT, "num_experts_per_tok": draw(st.integers(1, experts))}
    if family == "qwen3_moe":
        facts |= {
            "moe_intermediate_size": draw(st.integers(1, 20)),
            "decoder_sparse_step": draw(st.just(ABSENT) | st.integers(1, 4)),
            "mlp_only_layers": draw(st.just(ABSENT) | st.lists(st.integers(0, layers + 1))),
        }
    return config(family, draw(st.sampled_from(HEADS)), facts)


@pytest.mark.parametrize("family", STEMS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_small_config_agrees(family: str, data: st.DataObject) -> None:
    assert_agrees(data.draw(configs(family)))
