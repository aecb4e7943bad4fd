"""Values of single keys with which transformers builds no model, by version, and what follows from the record."""

import json
from typing import Any

import pytest
from build import Json
from paths import ARCHITECTURES

import hfcount
from hfcount.mapper.built_values import BuiltValues, built_values, forms
from hfcount.mapper.refusals import refusals
from hfcount.verifier.loaders.built import is_taken

NEWEST, OLDEST = "5.24.0", "4.57.1"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, ["null"]),
        ([], ["empty"]),
        ({}, ["empty"]),
        (-2, ["alone", "whole", "below"]),
        (0, ["alone", "whole", "zero"]),
        (3, ["alone", "whole"]),
        (3.0, ["alone"]),
        (3.5, ["alone", "half"]),
        ("3.5", ["text"]),
        ("silu", []),
        (True, []),
        ([16], ["listed"]),
        (["16"], ["listed", "text"]),
        (["4", "x"], ["listed"]),
        ([4, 4], ["paired"]),
        ([4, 4, 4], []),
        ([-1, -1], ["paired", "below"]),
        ([1, -1], ["paired"]),
    ],
)
def test_forms(value: object, found: list[str]) -> None:
    assert [*forms(value)] == found


@pytest.mark.parametrize("given", [[], ["scale"], ["rope_scaling"], ["rope_theta", "scale"]])
def test_a_default_by_which_nothing_is_built(given: list[str]) -> None:
    record = BuiltValues(
        {"absent": frozenset({"scale", "rope_parameters"})}, {}, {}, frozenset({"scale", "rope_parameters"})
    )
    lacking = {"scale", "rope_parameters"} - {*given} - ({"rope_parameters"} if "rope" in str(given) else set())
    assert {*record.needed_absent(given)} == lacking


def test_an_unknown_version_or_type_has_no_record() -> None:
    assert built_values("llama", NEWEST) is not None
    assert built_values("llama", "3.0.0") is None
    assert built_values("no such type", NEWEST) is None


def test_an_older_version_has_what_differs_from_the_newest() -> None:
    record = {one: built_values("swin", one) for one in (NEWEST, OLDEST)}
    uneven = {one: dict(values.uneven) if values else None for one, values in record.items()}
    assert uneven == {NEWEST: {}, OLDEST: {"num_heads": "embed_dim"}}


SECTIONS = [1, 1, 2]


@pytest.mark.parametrize(
    ("kind", "settings", "key"),
    [
        ("hy_v4_vl_text", {"mrope_section": SECTIONS}, None),
        ("hy_v4_vl_text", {"mrope_section": [1, 1, 1]}, "rope_parameters.mrope_section"),
        ("hy_v4_vl_text", {"mrope_section": [2, 2]}, "rope_parameters.mrope_section"),
        ("hy_v4_vl_text", {"rope_theta": 1e4}, "rope_parameters.mrope_section"),  # those of the class are too many
        ("hy_v4_vl_text", None, "rope_parameters.mrope_section"),
        ("hunyuan_vl_text", {"mrope_section": [4]}, None),
        ("hunyuan_vl_text", {"mrope_section": [1, 1]}, "rope_parameters.mrope_section"),
        ("hunyuan_vl_text", {"rope_theta": 1e4}, None),
        ("cosmos3_edge_text", {"rope_theta": 1e4, "rope_type": "default"}, "rope_parameters.mrope_section"),
        ("llama", {"mrope_section": [1], "rope_theta": 1e4}, None),
    ],
)
def test_sections_of_rotary_positions(kind: str, settings: Json | None, key: str | None) -> None:
    values = {"rope_parameters": settings, "qk_rope_head_dim": 8, "head_dim": 8}
    found = [refusal.key for refusal in refusals(values, kind) if "mrope" in refusal.key]
    assert found == ([] if key is None else [key])


@pytest.mark.parametrize(
    ("key", "value", "version", "taken"),
    [
        ("use_cache", None, OLDEST, True),
        ("use_cache", None, "5.23.0", None),  # whose class refuses it, too
        ("attention_dropout", "0.1", OLDEST, True),
        ("attention_dropout", "0.1", "5.23.0", False),
        ("attention_dropout", [0.1], OLDEST, True),
        ("attention_dropout", 2.0, OLDEST, None),  # a share, and what is made of such a one was not tried
        ("hidden_size", "32", OLDEST, False),
        ("hidden_size", 32, OLDEST, None),  # of the type that is needed
    ],
)
def test_values_of_other_types_by_version(key: str, value: Any, version: str, taken: bool | None) -> None:
    assert is_taken(version, [("", {key: value}, "llama")], key) is taken


@pytest.mark.parametrize(
    ("kind", "short", "long", "key"),
    [
        ("llama", 4, 4, None),
        ("llama", 1, 9, None),  # one for all, and those for long texts are not looked at before there is one
        ("llama", 3, 4, "short_factor"),
        ("phi3", 4, 4, None),
        ("phi3", 1, 4, "short_factor"),
        ("phi3", 4, 3, "long_factor"),
        ("glm", 2, 2, None),  # half of the features are turned
        ("glm", 4, 4, "short_factor"),
        ("deepseek_v4", 3, 3, None),  # the share follows from another key
    ],
)
def test_factors_of_rotary_positions(kind: str, short: int, long: int, key: str | None) -> None:
    settings = {"rope_type": "longrope", "short_factor": [1.0] * short, "long_factor": [1.0] * long}
    width = {"hidden_size": 32, "num_attention_heads": 4} if kind == "phi3" else {"head_dim": 8}
    values = {"rope_scaling": settings, **width, **({"qk_rope_head_dim": 8} if kind == "deepseek_v4" else {})}
    found = [refusal.key for refusal in refusals(values, kind) if "factor" in refusal.key]
    assert found == ([] if key is None else [f"rope_scaling.{key}"])


@pytest.mark.parametrize(
    ("kind", "part", "key"),
    [
        ("blip", "text_config", "encoder_hidden_size"),
        ("blip-2", "qformer_config", "encoder_hidden_size"),
        ("clap", "audio_config", "projection_dim"),
        ("hunyuan_vl", "vision_config", "text_hidden_size"),
        ("idefics2", "perceiver_config", "hidden_size"),
        ("inkling_mm_model", "audio_config", "text_hidden_size"),
        ("step3p7", "vision_config", "intermediate_size"),
    ],
)
def test_sizes_that_the_class_of_the_whole_sets_may_be_none(kind: str, part: str, key: str) -> None:
    values: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    usual = hfcount.blueprint(values)
    for size in (-1, 0):
        blueprint = hfcount.blueprint({**values, part: {**values[part], key: size}})
        assert (blueprint.problems, blueprint.total) == (usual.problems, usual.total)


def test_a_nested_config_that_the_class_reads_in_place_of_the_whole() -> None:
    values: Json = json.loads((ARCHITECTURES / "clip_vision_model.json").read_text())["config"]
    within = [
        [problem.key for problem in hfcount.blueprint({**values, "vision_config": inner}).problems]
        for inner in (values, {**values, "hidden_size": 8}, {}, None)
    ]
    assert within == [[], *3 * [["vision_config"]]]


def problems(kind: str, path: str = "backbone_config.", **changes: Any) -> list[str]:
    values: Json = json.loads((ARCHITECTURES / f"{kind}.json").read_text())["config"]
    return [refusal.key for refusal in refusals({**values, **changes}, kind, path)]


def test_stages_that_a_config_names_itself() -> None:
    stages = ["stem", "stage1", "stage2"]
    assert problems("pp_lcnet", stage_names=stages, out_features=["stage2"]) == []
    assert problems("pp_lcnet", stage_names=stages, out_features=["stage3"]) == ["backbone_config.stage_names"]
    assert problems("dinov2", "", stage_names=stages, out_features=["stage3"], out_indices=None) == []  # no backbone
    assert problems("llama", stage_names=stages, out_features=["stage3"]) == []


def test_sizes_that_the_class_computes_may_hold_anything() -> None:
    values: Json = json.loads((ARCHITECTURES / "glm4_moe_lite.json").read_text())["config"]
    assert hfcount.blueprint({**values, "qk_head_dim": 20.5}).problems == ()


@pytest.mark.parametrize(
    ("kind", "value", "refused"),
    [("sam", None, True), ("sam", "16", True), ("sam", 0, False), ("sam_vision_model", None, False)],
)
def test_what_only_the_whole_reads_of_a_nested_config(kind: str, value: Any, refused: bool) -> None:
    values = {"scale": value} if kind == "sam_vision_model" else {"vision_config": {"scale": value}}
    assert [one.key for one in refusals(values, kind)] == (["vision_config.scale"] if refused else [])


BOTH = ["full_attention", "sliding_attention"]
USUAL = {"rope_type": "default", "rope_theta": 1e4}


@pytest.mark.parametrize(
    ("kind", "entries", "layers", "key"),
    [
        ("laguna", [USUAL, USUAL], BOTH, None),
        ("laguna", [USUAL, None], BOTH, "sliding_attention"),
        ("laguna", [USUAL, {"rope_type": "default"}], BOTH, "sliding_attention"),
        ("laguna", [USUAL, {"rope_type": None}], BOTH[:1], None),  # which no layer looks up
        ("gemma3_text", [USUAL, None], BOTH, None),
        ("gemma3_text", [USUAL, {"rope_type": "default"}], BOTH, None),
        ("gemma4_text", [USUAL, {"rope_type": "default"}], BOTH, "sliding_attention"),
    ],
)
def test_rotary_positions_by_kind_of_layer(
    kind: str, entries: list[Json | None], layers: list[str], key: str | None
) -> None:
    values = {"layer_types": layers, "num_hidden_layers": len(layers)}
    settings = dict(zip(BOTH, entries, strict=True))
    found = [one.key for one in refusals({**values, "rope_parameters": settings}, kind) if "rope" in one.key]
    assert found == ([f"rope_parameters.{key}"] if key else [])


def test_rotary_positions_by_another_label_than_the_kind_of_layer() -> None:
    given = {"main": USUAL, "compress": {"rope_type": "none such", "rope_theta": 1e4}}
    found = [one.key for one in refusals({"rope_parameters": given}, "deepseek_v4")]
    assert found == ["rope_parameters.compress.rope_type"]
