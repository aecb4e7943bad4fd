"""Values that transformers refuses: the record as its classes declare it, and what is said of a config."""

import json
from pathlib import Path
from typing import Any

import pytest
from build import Json
from paths import ARCHITECTURES
from tables import over

import hfcount
from hfcount.errors import ConfigError
from hfcount.mapper.accepted_values import accepted_values, shared
from hfcount.mapper.class_defaults import version
from hfcount.mapper.refusals import refusals
from hfcount.mapper.value_types import fits, meaning

INF, NAN = float("inf"), float("nan")

# A type, values of it, and values of other types.
TYPES: dict[str, tuple[list[object], list[object]]] = {
    "int": ([0, -1, 5], [True, 5.0, "5", None, [5]]),
    "float": ([0.5, 5.0, INF, NAN], [5, True, "0.5", None]),
    "bool": ([True, False], [0, 1, "true", None]),
    "str": (["", "x"], [None, 1, ["x"]]),
    "int|null": ([None, 1], [1.0, ""]),
    "float|int": ([1, 1.0], [True, None, "1"]),
    "int|list[int]|null": ([1, [1, 2], [], None], [["a"], [1.0], [True], {}, "2"]),
    "list[list[int]]": ([[], [[]], [[1], [2, 3]]], [[1], [["a"]], {}]),
    "list": ([[], ["a", 1]], ["a", {}]),
    "sequence[int|list[int]]": ([[1, [2]], ""], ["a", 1]),
    "object|null": ([{}, None], [[], "a", 0]),
    "object[int]|null": ([{"a": 1}], [{"a": "b"}, []]),
    '["cls","mean"]|null': (["cls", None], ["max", 1]),
}


@pytest.mark.parametrize("said", TYPES)
def test_types(said: str) -> None:
    good, bad = TYPES[said]
    assert [value for value in good if not fits(value, said)] == []
    assert [value for value in bad if fits(value, said)] == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("int", "a whole number"),
        ("float|int|null", "a number or null"),
        ("int|list[int]|null", "a whole number, a list of whole numbers or null"),
        ('["cls","mean"]', "one of cls, mean"),
        ("object[any]|null", "an object or null"),
    ],
)
def test_types_in_words(said: str, words: str) -> None:
    assert meaning(said) == words


def config(kind: str, **changes: Any) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    return values | changes


def refused(values: Json) -> list[str]:
    return [one.key for one in refusals(values, values["model_type"])]


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
TYPE = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}

FLAT = {"rope_type": "default", "rope_theta": 10000.0}

VISION_LAYERS = "vision_config.layer_types"

# A type, a change to its config, and the key that transformers then refuses, if it does.
CHANGES: list[tuple[str, Json, str | None]] = [
    ("llama", {}, None),
    ("llama", {"rms_norm_eps": None}, "rms_norm_eps"),
    ("llama", {"rms_norm_eps": 1}, "rms_norm_eps"),
    ("llama", {"rms_norm_eps": 1e-5}, None),
    ("llama", {"attention_dropout": 0}, None),
    ("llama", {"attention_dropout": {"__float__": "NaN"}}, None),
    ("llama", {"initializer_range": 2.0}, "initializer_range"),
    ("llama", {"use_cache": "yes"}, "use_cache"),
    ("llama", {"eos_token_id": ["a"]}, "eos_token_id"),
    ("llama", {"eos_token_id": [1, 2]}, None),
    ("llama", {"hidden_act": "gelu2"}, "hidden_act"),
    ("llama", {"hidden_act": ""}, "hidden_act"),
    ("llama", {"hidden_act": "gelu_new"}, None),
    ("llama", {"id2label": 3}, "id2label"),
    ("llama", {"id2label": {"a": "b"}}, "id2label"),
    ("llama", {"id2label": {"0": "b"}}, None),
    ("llama", {"num_labels": "3"}, "num_labels"),
    ("llama", {"auto_map": 3}, "auto_map"),
    ("llama", {"auto_map": {"AutoConfig": "own.Config"}, "use_cache": "yes"}, None),
    ("llama", {"attn_implementation": "fast"}, "attn_implementation"),
    ("llama", {"attn_implementation": "org/kernel"}, None),
    ("llama", {"text_config": {}}, "text_config"),
    ("parakeet_rnnt", {"hidden_act": "GELU"}, "hidden_act"),  # which its encoder has, too
    ("parakeet_rnnt", {"hidden_act": "gelu"}, None),
    ("t5", {"feed_forward_proj": "gated-gelu"}, None),
    ("dpr", {"hidden_act": "none such"}, "hidden_act"),
    ("clip", {"quantization_config": {}}, None),  # that of its language model counts then
    ("clip", {"quantization_config": []}, "quantization_config"),
    ("gemma3_text", {"rope_scaling": {"type": None}}, None),
    ("llama", {"rope_scaling": {"rope_type": None}}, "rope_scaling.rope_type"),
    ("llama", {"text_config": None}, None),
    ("llama", {"layer_types": ["full_attention", "other", "full_attention"]}, "layer_types"),
    ("llama", {"layer_types": ["attention"] * 3}, None),
    ("llama", {"layer_types": ["deepseek_sparse_attention"] * 3}, None),
    ("llama", {"rope_parameters": {"rope_type": "none such"}}, "rope_parameters.rope_type"),
    ("llama", {"rope_parameters": {}}, None),
    ("llama", {"rope_parameters": "linear"}, "rope_parameters"),
    ("llama", {"rope_scaling": "linear"}, "rope_scaling"),
    ("llama", {"rope_scaling": []}, None),
    ("llama", {"rope_scaling": {"type": "linear"}}, "rope_scaling.factor"),
    ("llama", {"rope_scaling": {"type": "linear", "factor": "2"}}, "rope_scaling.factor"),
    ("llama", {"rope_scaling": {"type": "linear", "factor": 2}}, None),
    ("llama", {"rope_scaling": YARN}, None),
    ("llama", {"rope_scaling": TYPE}, None),
    ("llama", {"rope_scaling": {**TYPE, "low_freq_factor": None}}, "rope_scaling.low_freq_factor"),
    ("llama", {"rope_scaling": {"rope_type": "longrope", "short_factor": [1.0]}}, "rope_scaling.long_factor"),
    ("llama", {"rope_theta": "10000"}, "rope_theta"),
    ("llama", {"rope_theta": 10000}, None),
    ("llama", {"quantization_config": {}}, "quantization_config.quant_method"),
    ("llama", {"quantization_config": "fp8"}, "quantization_config"),
    ("llama", {"quantization_config": {"load_in_8bit": True}}, None),
    ("llama", {"quantization_config": {"bits": 4}, "quantization": {"bits": 4}}, None),
    ("llama", {"quantization_config": {"bits": 4}}, "quantization_config.quant_method"),
    ("llama", {"a_key_of_another": "x"}, None),
    ("bert", {"rope_scaling": {"type": "linear"}}, "rope_scaling.factor"),
    ("bert", {"hidden_dropout_prob": -0.5}, "hidden_dropout_prob"),
    ("qwen2_vl", {"rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}}, None),
    ("granitemoehybrid", {"rope_scaling": {"type": "linear", "factor": "2"}}, None),  # it has no rotary positions
    ("llava", {"text_config": {"model_type": "llama", "use_cache": 1}}, "text_config.use_cache"),
    ("llava", {"vision_config": {"model_type": "clip_vision_model", "hidden_act": "x"}}, "vision_config.hidden_act"),
    (
        "gemma3_text",
        {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}},
        "rope_parameters.full_attention.factor",
    ),
    ("mamba", {"time_step_limit": [0.0, INF]}, None),
    (
        "gemma3_text",
        {"num_hidden_layers": 3, "layer_types": ["sliding_attention", "conv", "full_attention"]},
        "layer_types",
    ),
    (
        "gemma3_text",
        {"num_hidden_layers": 3, "layer_types": ["sliding_attention", "attention", "full_attention"]},
        None,
    ),
    (
        "gemma3_text",
        {"layer_types": ["conv"] * 6, "rope_parameters": {"conv": FLAT, "full_attention": FLAT}},
        None,
    ),
    ("gemma3_text", {"rope_parameters": {"sliding_attention": FLAT}}, None),
    ("beam", {"rope_parameters": {"sliding_attention": FLAT}}, "rope_parameters.full_attention"),
    ("beam", {"rope_parameters": {"sliding_attention": FLAT, "full_attention": None}}, None),
    ("mellum", {"rope_parameters": FLAT}, "rope_parameters.full_attention"),
    ("mellum", {"rope_parameters": None}, None),
    ("funnel", {"pooling_type": "min"}, "pooling_type"),
    ("wav2vec2", {"conv_dim": [16, 16]}, "conv_dim"),
    ("clap", {"audio_config": {"patch_stride": []}}, "audio_config.patch_stride"),
    ("axk1", {"mlp_layer_types": []}, "mlp_layer_types"),
    ("led", {"layer_types": []}, "layer_types"),
    ("vit", {"image_size": [8]}, "image_size"),
    ("vit", {"image_size": [8, 8]}, None),
    ("llama", {"hidden_size": 64, "num_attention_heads": 3, "num_key_value_heads": 3}, "num_attention_heads"),
    ("llama", {"hidden_size": 63, "num_attention_heads": 3, "num_key_value_heads": 3}, None),
    ("llama", {"hidden_size": 64, "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 6}, None),
    (
        "llama",
        {"num_attention_heads": 3, "num_key_value_heads": 3, "per_layer_config": {"0": {"intermediate_size": 8}}},
        "num_attention_heads",
    ),
    (
        "llava",
        {"text_config": {"model_type": "llama", "num_attention_heads": 24, "num_key_value_heads": 24, "head_dim": 8}},
        "text_config.num_attention_heads",
    ),
    ("llava", {"text_config": {"model_type": "llama", "hidden_size": 100}}, "text_config.hidden_size"),
    ("mistral", {"hidden_size": 64, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 16}, None),
    ("lightglue", {"num_attention_heads": 3}, "num_attention_heads"),
    ("step3p5", {"layer_types": ["full_attention", "sliding_attention", "conv", "full_attention"]}, None),
    ("llama", {"layer_types": ["full_attention"] * 4}, "layer_types"),  # and three layers
    ("zamba", {"layers_block_type": ["none such"] * 8}, "layers_block_type"),  # its name for layer_types
    (
        "muse_glimmer",
        {"vision_config": {"num_hidden_layers": 1, "layer_types": ["window_attention"] * 2}},
        VISION_LAYERS,
    ),
    ("hubert", {"num_feat_extract_layers": -1}, "num_feat_extract_layers"),
    ("hubert", {"num_feat_extract_layers": 7}, None),
    ("swin", {"out_features": ["STAGE4"], "out_indices": None}, "out_features"),
    ("swin", {"out_features": ["stage2", "stage1"], "out_indices": None}, "out_features"),
    ("swin", {"out_features": ["stage1", "stage1"], "out_indices": None}, "out_features"),
    ("swin", {"out_features": ["stem", "stage1"], "out_indices": [0, -4]}, None),
    ("swin", {"out_features": ["stage1"], "out_indices": [1, 2]}, "out_features"),
    ("swin", {"out_features": None, "out_indices": [5]}, "out_indices"),
    ("swin", {"out_features": None, "out_indices": [3, -3]}, "out_indices"),
    ("dinov2", {"out_features": ["stage99"], "out_indices": None}, "out_features"),
]


@over(("kind", "changes", "key"), CHANGES)
def test_what_is_refused(kind: str, changes: Json, key: str | None) -> None:
    assert refused(config(kind, **changes)) == ([key] if key else [])


def test_kinds_of_networks_are_looked_at_where_layers_have_kinds() -> None:
    longer = {"num_hidden_layers": 2, "mlp_layer_types": ["dense", "sparse", "sparse"]}
    assert refused(config("axk1", **longer)) == []
    assert refused(config("axk1", **longer, layer_types=["full_attention"] * 2)) == ["mlp_layer_types"]
    assert refused(config("cohere2_moe", mlp_layer_types=["dense"])) == ["mlp_layer_types"]


@pytest.mark.parametrize("settings", [{"bits": 4, "group_size": 64}, {"quant_algo": "FP8"}, {"config_groups": {}}])
def test_a_quantisation_that_other_engines_know_by_its_keys_is_theirs(settings: Json) -> None:
    assert refused(config("llama", quantization_config=settings)) == []


def test_a_type_that_transformers_does_not_have_is_not_judged() -> None:
    assert refused({"model_type": "none such", "use_cache": "yes", "id2label": 3}) == []


@pytest.mark.parametrize(("whole", "part"), [(True, True), (True, False), (False, True)])
def test_a_part_that_the_repos_own_code_has_a_class_for_is_not_judged(whole: bool, part: bool) -> None:
    own = {"auto_map": {"AutoConfig": "own.Config"}}
    known = config("kimi_k3")
    text = {**known["text_config"], "model_type": "kimi_linear", "hidden_act": "own", **(own if part else {})}
    values = {**known, "text_config": text, **(own if whole else {})}
    problems = hfcount.blueprint(values).problems
    assert [one.key for one in problems] == ([] if whole and part else ["text_config.hidden_act"])


def test_what_is_said() -> None:
    (problem,) = hfcount.blueprint(config("llama", max_position_embeddings="2048")).problems
    assert (problem.code, problem.key, problem.observed) == ("HF110", "max_position_embeddings", "2048")
    assert problem.text.endswith(
        f'max_position_embeddings is "2048", but must be a whole number: transformers {version()} refuses others.'
    )
    assert problem.fix == "Write 2048."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"layer_types": ["full_attention", "foo", "full_attention"]}, 'layer_types has "foo", but must be a list of'),
        ({"id2label": {"0": "x", "a": "b"}}, 'whole numbers in quotes, unlike "a"'),
    ],
)
def test_the_wrong_entry_is_named(changes: Json, said: str) -> None:
    (problem,) = hfcount.blueprint(config("llama", **changes)).problems
    assert said in problem.text


@pytest.mark.parametrize(
    ("key", "value", "fix"),
    [("rms_norm_eps", 1, "Write 1.0."), ("head_dim", "x", None), ("use_cache", "true", None)],
)
def test_what_to_write_instead(key: str, value: object, fix: str | None) -> None:
    values = config("llama", **{key: value}) if key != "head_dim" else config("llama", pad_token_id=value)
    (problem,) = hfcount.blueprint(values).problems
    assert problem.fix == fix


@pytest.mark.parametrize(
    ("kind", "key", "value", "built"),
    [
        *(("llama", key, -1, False) for key in ("hidden_size", "intermediate_size", "vocab_size")),
        *(("llama", key, -1, False) for key in ("head_dim", "num_attention_heads", "num_key_value_heads")),
        *(("llama", key, 0, False) for key in ("num_attention_heads", "num_key_value_heads")),
        *(("llama", key, 0, True) for key in ("hidden_size", "intermediate_size", "num_hidden_layers")),
        ("granitemoehybrid", "num_attention_heads", 0, True),
        ("qwen2_moe", "intermediate_size", -1, True),
        ("blt_patcher", "num_key_value_heads", 0, True),
    ],
)
def test_a_size_that_nothing_is_built_with_is_an_error(kind: str, key: str, value: int, built: bool) -> None:
    try:
        found = list(hfcount.blueprint(config(kind, **{key: value})).problems)
    except ConfigError as error:
        found = [error]
    assert [one.built for one in found if one.key == key and one.code == "HF103"] == [built]


FACTS_ALONE = {"dots3_note": ["audio_config.hidden_size"], "glm5_next": ["text_config.num_attention_heads"]}
"""Recorded without keys that bear on no shape, by whose defaults transformers refuses these configs."""


def test_nothing_of_what_transformers_saved_is_refused() -> None:
    found = {path.stem: refused(json.loads(path.read_text())["config"]) for path in ARCHITECTURES.glob("*.json")}
    assert {name: keys for name, keys in found.items() if keys} == FACTS_ALONE


EACH = 20
"""One of so many classes is held against the record: to declare them all takes half a minute."""


@pytest.mark.long
def test_the_record_is_what_transformers_declares() -> None:
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    if transformers.__version__ != version():
        pytest.skip(f"the record is of transformers {version()}, and {transformers.__version__} is installed")
    from values import FILE, of_class, words

    record = json.loads(FILE.read_text())
    some = [name for name in [*record["classes"]][::EACH] if name in transformers.CONFIG_MAPPING]
    assert {name: of_class(name, transformers.CONFIG_MAPPING[name]) for name in some} == {
        name: record["classes"][name] for name in some
    }
    assert words() == record["shared"]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "changes", "key"), CHANGES)
def test_transformers_refuses_the_same(kind: str, changes: Json, key: str | None, tmp_path: Path) -> None:
    """As it reads the config, builds the class that it names, and looks up how it is quantised."""
    torch = pytest.importorskip("torch", reason="`pip install -e '.[oracle]'` brings it")
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    from tiny import class_of, quiet

    values = config(kind, **changes)
    if "auto_map" in changes and key is None:
        pytest.skip("the repo's own code reads it")
    (tmp_path / "config.json").write_text(json.dumps(values))
    refused = False
    with quiet():
        try:
            found = transformers.AutoConfig.from_pretrained(tmp_path)
            quantised = getattr(found, "quantization_config", None)
            if not quantised:  # that of the language model counts
                quantised = getattr(found.get_text_config(decoder=True), "quantization_config", None)
            if quantised is not None:
                transformers.quantizers.AutoQuantizationConfig.from_dict(quantised)
            with torch.device("meta"):
                class_of(values)._from_config(found)
        except Exception:  # whatever it is, nobody can load it
            refused = True
    expected = key is not None or "quantization" in changes or changes.get("attn_implementation") == "org/kernel"
    assert refused == expected


def test_what_all_classes_share() -> None:
    assert "silu" in shared("activations")
    assert accepted_values("none such") is None
