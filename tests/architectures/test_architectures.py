"""Every file of fixtures/architectures: what a config's facts give, as a judge that shares no code has confirmed it."""

import copy
import json
import re
from typing import Any

import pytest
from distinct import distinct, sizes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paths import ARCHITECTURES
from record import rows
from tables import over

import hfcount
from hfcount.architectures import families
from hfcount.errors import ConfigError, UnknownArchitecture

RECORDED: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(ARCHITECTURES.glob("*.json"))
}

ODD = (None, 0, -1, 1, 2**40, 10**30, 1.5, True, "5120", [], [1], ["full_attention"], {}, {"a": 1})
"""What a key may hold that it should not."""


@over("name", RECORDED, every=3)
def test_the_facts_give_the_rows(name: str) -> None:
    recorded = RECORDED[name]
    blueprint = hfcount.blueprint(recorded["config"])
    assert rows(blueprint) == recorded["rows"]
    assert dict(blueprint.reasons) == recorded["asides"]
    if not blueprint.unmodeled:
        assert (blueprint.total, blueprint.active) == (recorded["total"], recorded["active"])


@pytest.mark.parametrize("name", ["llava_qwen", "llava_mistral", "llava_llama"])
def test_a_class_tells_which_of_the_architectures_of_its_type_it_is(name: str) -> None:
    values = {**RECORDED[name]["config"], "model_type": "llava"}
    assert rows(hfcount.blueprint(values)) == RECORDED[name]["rows"]
    with pytest.raises(UnknownArchitecture):
        hfcount.blueprint({**values, "architectures": ["LlavaMptForCausalLM"]})


@pytest.mark.parametrize(("name", "kind", "key"), [("mosaic_bert", "bert", {"alibi_starting_size": 512})])
def test_a_key_tells_which_code_a_config_of_a_known_type_is_for(name: str, kind: str, key: dict[str, Any]) -> None:
    values = {**RECORDED[name]["config"], "model_type": kind}
    assert rows(hfcount.blueprint({**values, **key})) == RECORDED[name]["rows"] != rows(hfcount.blueprint(values))
    with pytest.raises(UnknownArchitecture, match=f"no class of {name}"):
        hfcount.blueprint({**values, **key, "architectures": ["BertForTokenClassification"]})


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("vibepod", "VibeVoiceForConditionalGeneration"),
        ("vibepod-asr", "VibeVoiceASRForConditionalGeneration"),
        ("vibepod-asr", "VibeVoiceForASRTraining"),
    ],
)
def test_the_keys_of_vibevoice_tell_its_own_code_from_that_of_transformers(name: str, named: str) -> None:
    values = {**RECORDED[name]["config"], "model_type": "vibevoice"}
    assert rows(hfcount.blueprint({**values, "architectures": [named]})) == RECORDED[name]["rows"]
    with pytest.raises(UnknownArchitecture, match="is no class of vibe"):
        hfcount.blueprint({**values, "architectures": ["VibeVoiceStreamingForConditionalGenerationInference"]})


@pytest.mark.parametrize(
    ("named", "whole", "inner", "tied"),
    [
        ("VibePodForConditionalGeneration", {}, {"tie_word_embeddings": True}, True),
        ("VibePodForConditionalGeneration", {"tie_word_embeddings": True}, {}, False),
        ("VibeVoiceForConditionalGenerationInference", {}, {}, True),
        (
            "VibeVoiceForConditionalGenerationInference",
            {"tie_word_embeddings": False},
            {"tie_word_embeddings": True},
            False,
        ),
    ],
)
def test_each_class_of_vibevoice_has_its_own_word_on_ties(
    named: str, whole: dict[str, bool], inner: dict[str, bool], tied: bool
) -> None:
    values = copy.deepcopy(RECORDED["vibepod"]["config"])
    del values["decoder_config"]["tie_word_embeddings"]
    values["decoder_config"] |= inner
    found = hfcount.blueprint({**values, **whole, "architectures": [named]})
    assert ("lm_head.weight" not in {tensor.name for tensor in found.tensors()}) == tied


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"encoder_hidden_size": 232}, "published classes do not agree"),
        ({"layer_types": ["full_attention"] * 4}, "layer_types has 4 entries"),
        ({"layer_types": ["full_attention"] * 4 + ["other"]}, "layer_types names .?other"),
        ({"architectures": ["AceStepDiTModel"]}, "no class of acestep"),
    ],
)
def test_what_no_class_of_ace_step_builds_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises((UnknownArchitecture, ConfigError), match=message):
        hfcount.blueprint({**RECORDED["acestep"]["config"], **keys})


def test_ace_step_has_one_width_unless_its_encoder_has_its_own() -> None:
    narrow = RECORDED["acestep"]["config"]
    plain = {key: value for key, value in narrow.items() if key != "encoder_hidden_size"}
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(plain).tensors()}
    assert shapes["decoder.condition_embedder.weight"] == (232, 232)
    assert shapes["encoder.lyric_encoder.layers.0.mlp.gate_proj.weight"] == (328, 232)
    codes = {"fsq_dim": 5, "fsq_input_levels": [8, 8, 5, 5, 5]}  # nothing to project
    assert not [one for one in hfcount.blueprint({**narrow, **codes}).tensors() if "quantizer" in one.name]


@pytest.mark.parametrize(
    ("name", "kind", "named", "like"),
    [
        ("santacoder", "gpt2", "GPT2LMHeadCustomModel", None),
        ("chronos_bolt", "t5", "ChronosBoltModelForForecasting", None),
        ("chronos2", "t5", "Chronos2Model", None),
        ("aimv2_model", "aimv2", "AIMv2Model", None),
        ("nucleotide_transformer", "esm", "EsmForMaskedLM", None),
        ("nomic_vision", "nomic_bert", "NomicVisionModel", None),
        ("llama_gating", "llama", "LlamaForRewardModelWithGating", None),
        ("layerwise_minicpm", "minicpm", "LayerWiseMiniCPMForCausalLM", None),
        ("llada_moe", "llada", "LLaDAMoEModelLM", None),
        ("mimo_audio", "qwen2", "MiMoAudioForCausalLM", None),
        ("rwkv6_fla", "rwkv6", "RWKV6ForCausalLM", None),
        ("telechat", "telechat", "TeleChat2ForCausalLM", None),
        ("lfm2", "lfm2", "Lfm2BidirectionalModel", "Lfm2Model"),
    ],
)
def test_a_class_of_its_own_name_is_known(name: str, kind: str, named: str, like: str | None) -> None:
    values = RECORDED[name]["config"]
    found = rows(hfcount.blueprint({**values, "model_type": kind, "architectures": [named]}))
    assert found == (rows(hfcount.blueprint({**values, "architectures": [like]})) if like else RECORDED[name]["rows"])


@pytest.mark.parametrize(("shared", "rows"), [(2, 2), (0, 8), (None, 8)])
def test_heads_of_telechat_2_share_keys_and_values(shared: int | None, rows: int) -> None:
    values = {**RECORDED["telechat"]["config"], "n_head": 8, "hidden_size": 64, "num_key_value_heads": shared}
    shapes = {one.name: one.shape for one in hfcount.blueprint(values).tensors()}
    assert shapes["transformer.h.0.self_attention.key_value.weight"] == (2 * rows * 8, 64)


def test_windows_in_a_model_without_layers_limit_nothing() -> None:
    values = {**RECORDED["transformer"]["config"], "num_hidden_layers": 0, "window_size": 16}
    assert {one.name for one in hfcount.blueprint(values).tensors()} == {
        "model.embeddings.weight",
        "model.norm.weight",
        "lm_head.weight",
    }


@pytest.mark.parametrize(("kind", "key"), [("cost_wise_gemma", "layer_sep"), ("PaellaVQModel", "levels")])
def test_a_span_that_has_no_step_and_levels_that_are_none_are_errors(kind: str, key: str) -> None:
    with pytest.raises(ConfigError, match=rf"{key} is 0, but must be 1 to"):
        hfcount.blueprint({**RECORDED[kind]["config"], key: 0})


def test_minicpm_has_experts_in_place_of_its_networks_where_its_config_counts_them() -> None:
    values = {**RECORDED["minicpm"]["config"], "num_experts": 3, "num_experts_per_tok": 2}
    width, inner = values["hidden_size"], values["intermediate_size"]
    shapes = {one.name: one.shape for one in hfcount.blueprint(values).tensors() if ".layers.1.mlp." in one.name}
    assert len(shapes) == 1 + 3 * 3
    assert shapes["model.layers.1.mlp.gate.weight"] == (3, width)
    assert shapes["model.layers.1.mlp.experts.2.w2.weight"] == (width, inner)


def test_contriever_is_bert_without_a_pooler() -> None:
    built = {
        named: {
            one.name for one in hfcount.blueprint({**RECORDED["bert"]["config"], "architectures": [named]}).tensors()
        }
        for named in ("BertModel", "Contriever")
    }
    assert built["BertModel"] - built["Contriever"] == {"pooler.dense.weight", "pooler.dense.bias"}
    assert not built["Contriever"] - built["BertModel"]


@pytest.mark.parametrize(("kind", "named"), [("wav2vec2", "Wav2Vec2"), ("hubert", "Hubert")])
def test_published_code_classifies_speech_by_two_layers(kind: str, named: str) -> None:
    values = {**RECORDED[kind]["config"], "architectures": [f"{named}ForSpeechClassification"], "num_labels": 3}
    values = {key: value for key, value in values.items() if key not in ("id2label", "label2id")}
    width = values["hidden_size"]
    head = {one.name: one.shape for one in hfcount.blueprint(values).tensors() if one.name.startswith("classifier")}
    dense = {"classifier.dense.weight": (width, width), "classifier.dense.bias": (width,)}
    assert head == {**dense, "classifier.out_proj.weight": (3, width), "classifier.out_proj.bias": (3,)}


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("kind", ["wav2vec2", "wavlm"])
@pytest.mark.parametrize("width", [8, 0])
def test_adapters_of_attention_are_only_in_layers_with_norms_before(width: int, kind: str, stable: bool) -> None:
    values = {**RECORDED[kind]["config"], "adapter_attn_dim": width, "do_stable_layer_norm": stable}
    adapted = any(".adapter_layer." in one.name for one in hfcount.blueprint(values).tensors())
    assert adapted == (stable and kind == "wav2vec2")


@pytest.mark.parametrize(("key", "width"), [("n_inner", 512), ("intermediate_size", 300)])
def test_gated_networks_of_nomic_bert_are_rounded_up_by_its_own_code(key: str, width: int) -> None:
    sizes = {
        "hidden_size": 64,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "vocab_size": 96,
        "type_vocab_size": 2,
    }
    values = {"model_type": "nomic_bert", "architectures": ["NomicBertModel"], **sizes, key: 300}
    shapes = {one.name: one.shape for one in hfcount.blueprint(values).tensors()}
    assert shapes["encoder.layers.1.mlp.fc11.weight"] == (width, 64)


def test_a_model_whose_parts_are_in_folders_says_which() -> None:
    parts = {f"{name}_cfg": {} for name in ("llm", "vision_tower", "mm_projector")}
    with pytest.raises(UnknownArchitecture, match=r"llm, vision_tower, mm_projector\. --subfolder takes one"):
        hfcount.blueprint({"model_type": "llava_llama", "architectures": ["LlavaLlamaModel"], **parts})


JUDGED = [
    name
    for name, recorded in RECORDED.items()
    if re.match("(when recorded, )?(transformers|diffusers)", recorded["judge"])
]


@over("name", JUDGED)
def test_no_two_sizes_are_alike(name: str) -> None:
    """So that a key read in place of another shows; where two have to be alike, the file says why."""
    recorded = RECORDED[name]
    alike: dict[int, set[str]] = {}
    for way, size in sizes(recorded["config"]).items():
        alike.setdefault(size, set()).add(".".join(way))
    several = [ways for ways in alike.values() if len(ways) > 1]
    assert set().union(*several) == {way for way, why in recorded.get("alike", {}).items() if why}


def test_sizes_are_made_distinct_as_far_as_nobody_refuses() -> None:
    alike = {"hidden_size": 128, "intermediate_size": 128, "vocab_size": 128, "head_dim": 128, "num_hidden_layers": 32}
    config = {"model_type": "llama", **alike, "num_attention_heads": 32, "num_key_value_heads": 32}
    free, none = distinct(config, lambda changed: None)
    found = [free[key] for key in (*alike, "num_attention_heads", "num_key_value_heads")]
    assert len(set(found)) == len(found)
    assert free["num_hidden_layers"] == 3
    assert free["num_attention_heads"] == 2 * free["num_key_value_heads"]
    assert none == {}
    kept, told = distinct(config, lambda changed: "nothing may change")
    assert (kept, set(told)) == (config, set(config) - {"model_type"})
    assert told["vocab_size"] == "nothing may change"


@over("name", RECORDED, every=160)  # test_keys.py damages others
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_config_makes_a_family_raise_anything_else(name: str, data: st.DataObject) -> None:
    config = json.loads(json.dumps(RECORDED[name]["config"]))
    for _ in range(data.draw(st.integers(1, 2))):
        part = config
        while True:
            key = data.draw(st.sampled_from(sorted(part)))
            if isinstance(part[key], dict) and part[key] and data.draw(st.booleans()):
                part = part[key]
                continue
            break
        if data.draw(st.booleans()):
            part[key] = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        else:
            del part[key]
        if not part:
            break
    try:
        blueprint = hfcount.blueprint(config)
    except (hfcount.ConfigError, hfcount.UnknownArchitecture):
        return
    assert blueprint.total >= 0
    assert all(str(row.name) for row in blueprint.rows())


LAYERS = re.compile(r"(n|num)_((hidden|encoder|decoder)_)?layers?|(encoder|decoder)_layers|depth")
"""Keys that count layers."""

LISTS = ("attn_layer_indices cross_attention_layers full_attn_idxs local_layer_ids mlp_only_layers moe_layers").split()
"""Keys that list layers by their numbers."""


def _deep(values: dict[str, Any], count: int, listed: list[int] | None) -> dict[str, Any]:
    """The config with `count` layers in each stack and no other list than `listed`, of the numbers of layers."""
    result = dict.fromkeys(LISTS, listed) if "hidden_size" in values and listed is not None else {}
    for key, value in values.items():
        if isinstance(value, dict):
            result[key] = _deep(value, count, listed)
        elif LAYERS.fullmatch(key):
            result[key] = count
        elif key == "architectures" or not isinstance(value, list):
            result.setdefault(key, value)
    return result


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)], ids=["each-fourth", "all"])
@pytest.mark.parametrize("listed", [pytest.param(None, marks=pytest.mark.long), [0, 1]], ids=["by-rule", "by-numbers"])
@pytest.mark.parametrize(
    "count", [pytest.param(2**40, marks=pytest.mark.long), 2**62], ids=["2-to-the-40", "2-to-the-62"]
)
def test_layers_are_counted_by_arithmetic(count: int, listed: list[int] | None, every: int) -> None:
    """Anything that went through the layers one by one would never come to an end."""
    refused, names = [], list(RECORDED)[::every]
    for name in names:
        try:
            blueprint = hfcount.blueprint(_deep(RECORDED[name]["config"], count, listed))
        except hfcount.ConfigError:
            refused.append(name)
        else:
            assert (blueprint.total > 0) == any(row.kind == "parameter" for row in blueprint.rows())
            assert blueprint.rows()
    assert len(refused) < len(names) / 10, refused


def test_every_family_is_recorded() -> None:
    recorded = {entry["config"]["model_type"] for entry in RECORDED.values()}
    assert [family.types for family in families.everyone() if recorded.isdisjoint(family.types)] == []
