"""Keys that a config lacks, misspells or has with another value: the cause names the key, no value where many fit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from build import Json, config, save, shard
from paths import ARCHITECTURES

import hfcount
from hfcount.errors import ConfigError

Tensors = dict[str, tuple[tuple[int, ...], str]]


def recorded(kind: str) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    return values


def saved(values: Mapping[str, Any]) -> Tensors:
    """The tensors that a model of a config has."""
    return {leaf.name: (tuple(map(int, leaf.shape)), "BF16") for leaf in hfcount.blueprint(values).tensors(stored=True)}


def messages(says: Json, tensors: Tensors) -> str:
    return "\n".join(finding.message for finding in hfcount.verify_tensors(says, tensors).findings)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "key", "new", "cause"),
    [
        ("jamba", "num_hidden_layers", None, "num_hidden_layers is 32 by default, but the checkpoint has 5 layers."),
        ("rwkv", "num_hidden_layers", None, "Add what is missing, or add num_hidden_layers: 3."),
        ("switch_transformers", "num_layers", None, "num_layers is 12 by default, but the checkpoint has 6 layers."),
        ("longt5", "num_decoder_layers", None, "num_decoder_layers is 4 by default, but the checkpoint has 3 layers."),
        ("cohere", "num_key_value_heads", None, "num_key_value_heads is 4 by default, but 2 would fit."),
        ("rwkv", "attention_hidden_size", None, "attention_hidden_size is absent, but 20 would fit."),
        ("VQModel", "vq_embed_dim", None, "vq_embed_dim is absent, but 9 would fit."),
        ("deit", "image_size", None, "image_size is 224 by default, but any from 112 to 127 would fit."),
        ("deit", "num_attention_heads", 3, "num_attention_heads is 3, but several other values would fit"),
        ("deit", "num_attention_heads", None, "the value of the model that was saved (the sizes do not show it)."),
        ("RefinedWeb", "n_head", 16, "n_head is 16, but 8 would fit"),
        ("resnet", "depths", [3, 4, 6, 4], "set depths[3] to 3."),
        ("qwen3_next", "layer_types", ["linear_attention"] * 4, '"linear_attention", "full_attention"].'),
        ("idefics", "cross_layer_interval", None, "cross_layer_interval is absent, but any from 4 to 8 would fit."),
        ("video_llama_3", "vision_config", None, "vision_config is absent, so defaults were used for all its"),
    ],
)
def test_a_key_that_is_absent_or_has_another_value(kind: str, key: str, new: Any, cause: str) -> None:
    values = recorded(kind)
    says = {name: value for name, value in values.items() if name != key} | ({} if new is None else {key: new})
    assert cause in messages(says, saved(values))


@pytest.mark.parametrize(
    ("kind", "given", "cause"),
    [
        ("layoutlm", None, "The stored tensors are all those of LayoutLMModel, and were compared with that."),
        ("bart", None, "The stored tensors are all those of BartForCausalLM, and were compared with that."),
        ("layoutlm", {}, "The stored tensors are all those of LayoutLMModel"),
        ("layoutlm", [None], "The stored tensors are all those of LayoutLMModel"),
        ("layoutlm", "LayoutLMModel", 'architectures is "LayoutLMModel", which is no list of names'),
    ],
)
def test_a_file_whose_config_names_no_class(kind: str, given: Any, cause: str, tmp_path: Path) -> None:
    values = recorded(kind)
    save(tmp_path, {**values, "architectures": given})
    (tmp_path / "model.safetensors").write_bytes(shard({name: shape for name, (shape, _) in saved(values).items()}))
    report = hfcount.verify(tmp_path)
    assert [finding.code for finding in report.findings] == ["HF116"]
    assert cause in report.findings[0].message
    assert report.verdict == "explained"


MOLMO = {
    "model_type": "molmo2",
    "architectures": ["Molmo2ForConditionalGeneration"],
    "dtype": "bfloat16",
    "adapter_config": {"hidden_size": 8, "intermediate_size": 12, "text_hidden_size": 16, "num_attention_heads": 2}
    | {"num_key_value_heads": 2, "head_dim": 4, "vision_feature_layer": [1]},
    "vision_config": {"hidden_size": 8, "intermediate_size": 12, "num_attention_heads": 2, "num_key_value_heads": 2}
    | {"head_dim": 4, "num_hidden_layers": 2},
    "text_config": {"hidden_size": 16, "intermediate_size": 12, "num_attention_heads": 2, "num_key_value_heads": 2}
    | {"head_dim": 8, "num_hidden_layers": 1, "vocab_size": 41, "additional_vocab_size": 8},
}


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(41, 8, "verified"), (25, 24, "verified"), (24, 24, "mismatch"), (26, 24, "mismatch")],
)
def test_rows_that_are_joined_when_they_are_loaded(first: int, second: int, verdict: str) -> None:
    """Molmo 2's release parts its table by purpose, and transformers 5.24 saves two equal parts of it."""
    tensors = saved(MOLMO)
    tensors["model.transformer.wte.embedding"] = ((first, 16), "BF16")
    tensors["model.transformer.wte.new_embedding"] = ((second, 16), "BF16")
    assert hfcount.verify_tensors(MOLMO, tensors).verdict == verdict


@pytest.mark.parametrize(
    ("kind", "key", "wrong"),
    [
        ("deit", "num_hidden_layers", "num_hiden_layers"),
        ("audio-spectrogram-transformer", "max_length", "max_lengh"),
        ("video_llama_3", "vision_config", "visoin_config"),
    ],
)
def test_a_key_that_is_misspelt(kind: str, key: str, wrong: str) -> None:
    values = recorded(kind)
    says = {wrong if name == key else name: value for name, value in values.items()}
    report = hfcount.verify_tensors(says, saved(values))
    assert f"Rename {wrong} to {key}." in [finding.fix for finding in report.findings]


def test_layers_that_are_lost_at_the_end_are_not_said_to_fit_no_other_number() -> None:
    values = config("llama", num_hidden_layers=4)
    lost = {name: tensor for name, tensor in saved(values).items() if "layers.3." not in name and "norm" not in name}
    assert "no other" not in messages(values, lost)


@pytest.mark.parametrize(
    ("kind", "changes", "size"),
    [
        ("unlimited_ocr_sam_vision_model", {"image_size": 7}, "blocks.2.attn.rel_pos_h would have a size of -1"),
    ],
)
def test_a_size_below_zero_is_refused(kind: str, changes: Json, size: str) -> None:
    with pytest.raises(ConfigError, match=size):
        hfcount.blueprint(recorded(kind) | changes)


def test_a_size_in_proportion_to_one_below_zero_is_none() -> None:
    values = recorded("ovis2_vision")
    assert hfcount.verify_tensors(values | {"hidden_stride": 15}, saved(values)).verdict == "mismatch"


def llama_layers(values: Json, **renamed: tuple[str, tuple[int, ...]]) -> Tensors:
    """The tensors with some projections of each layer under other names and shapes, or left out."""
    result: Tensors = {}
    for name, tensor in saved(values).items():
        key = next((key for key in renamed if f".{key}." in name), None)
        if key is None:
            result[name] = tensor
        elif renamed[key][0]:
            result[name.replace(f"mlp.{key}", renamed[key][0])] = (renamed[key][1], tensor[1])
    return result


def test_projections_joined_under_other_names_are_related() -> None:
    values = config("llama", hidden_size=16, intermediate_size=24, num_attention_heads=4)
    tensors = llama_layers(
        values, gate_proj=("swiglu.w12", (48, 16)), up_proj=("", ()), down_proj=("swiglu.w3", (16, 24))
    )
    text = messages(values, tensors)
    assert "have as many elements as" in text
    assert "most likely they are the same" in text


def test_packed_tensors_of_a_form_that_is_not_announced_are_related() -> None:
    values = config("llama")
    tensors: Tensors = {}
    for name, (shape, dtype) in saved(values).items():
        if "_proj" in name:
            tensors[name.replace(".weight", "_packed")] = ((shape[0], shape[1] // 2), "U8")
            tensors[name.replace(".weight", "_scale")] = ((shape[0], 1), "U8")
        else:
            tensors[name] = shape, dtype
    assert "_packed and _scale for model.layers" in messages(values, tensors)


@pytest.mark.parametrize("layer", ["midlayer", "layers.0"])
def test_a_draft_under_the_class_of_its_target_is_called_one(layer: str) -> None:
    values = config("llama", num_hidden_layers=1)
    d = values["hidden_size"]
    tensors: Tensors = {
        f"{layer}.hidden_norm.weight": ((d,), "BF16"),
        f"{layer}.self_attn.q_proj.weight": ((d, 2 * d), "BF16"),
        "fc.weight": ((d, 3 * d), "BF16"),
        "d2t": ((8,), "I64"),
        "t2d": ((values["vocab_size"],), "BOOL"),
    }
    assert "are names of an EAGLE-3 draft" in messages(values, tensors)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("width", [2, 3])
def test_a_first_draft_of_eagle_is_told_by_its_fc_alone(bias: bool, width: int) -> None:
    values = config("llama", num_hidden_layers=1)
    d = values["hidden_size"]
    lacking = ("model.norm.weight", "lm_head.weight", "model.layers.0.input_layernorm.weight")
    tensors: Tensors = {name: tensor for name, tensor in saved(values).items() if name not in lacking}
    tensors |= {"fc.weight": ((d, width * d), "BF16")} | ({"fc.bias": ((d,), "BF16")} if bias else {})
    assert ("as in an EAGLE draft (a small model for speculative decoding)" in messages(values, tensors)) == (
        width == 2
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["mimo", "nemotron_h", "glm4_moe_lite"])
def test_prediction_layers_that_are_stored_are_cured_by_the_key_that_counts_them(kind: str) -> None:
    values = {name: value for name, value in recorded(kind).items() if name != "num_nextn_predict_layers"}
    with_layers = values | {"num_nextn_predict_layers": 1}
    tensors: Tensors = {
        name: (tuple(map(int, leaf.shape)), "BF16")
        for leaf in hfcount.blueprint(with_layers).leaves
        if leaf.presence in ("required", "optional") and not leaf.tied_to
        for name in leaf.names()
    }
    fixes = [finding.fix for finding in hfcount.verify_tensors(values, tensors).findings if finding.code == "HF202"]
    assert fixes == ["Set num_nextn_predict_layers to 1."]
