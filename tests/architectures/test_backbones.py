"""Detectors by their backbones: those that a name says all of, those that are absent, and what they give out."""

from typing import Any

import pytest

import hfcount
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper.accepted_values import AcceptedValues
from hfcount.mapper.refusals import refusals
from hfcount.mapper.stages import stages

Json = dict[str, Any]

TIMM = {"use_timm_backbone": True, "backbone_config": None}
SWIN = "swin_tiny_patch4_window7_224"
DINO = {"model_type": "dinov3_vit", "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4}
DEIM = {"model_type": "deimv2", "architectures": ["Deimv2ForObjectDetection"]}
VIT = {"model_type": "lw_detr_vit", "hidden_size": 24, "num_attention_heads": 2, "num_hidden_layers": 3}


@pytest.mark.parametrize(
    ("config", "total"),  # the totals are those of transformers 5.23 with timm 1.0
    [
        ({"model_type": "detr", "backbone": "resnet50", "num_channels": 3, "num_labels": 91, **TIMM}, 41_524_768),
        ({"model_type": "detr", "backbone": "resnet101", "num_labels": 91, **TIMM}, 60_464_672),
        ({"model_type": "omdet-turbo"}, 115_406_806),
        ({"model_type": "omdet-turbo", "use_timm_backbone": False}, 115_411_030),
        (
            {"model_type": "omdet-turbo", "backbone": SWIN, **TIMM, "backbone_kwargs": {"out_indices": [1, 2]}},
            100_040_230,
        ),
        ({"model_type": "rf_detr", "num_labels": 91}, 32_248_546),
        ({"model_type": "lw_detr", "num_labels": 91, "projector_scale_factors": [1.0]}, 14_631_394),
        (DEIM, 29_767_510),
        ({**DEIM, "backbone_config": {**DINO, "intermediate_size": 48}}, 15_515_894),
        ({**DEIM, "encoder_type": "lite", "use_gateway": False}, 23_909_974),
        ({**DEIM, "share_bbox_head": True, "encoder_has_trailing_conv": False}, 27_758_274),
        ({**DEIM, "tie_word_embeddings": False}, 30_763_642),
        (
            {"model_type": "timm_backbone", "backbone": "swin_large_patch4_window12_384", "out_indices": [0, 2]},
            133_756_884,
        ),
    ],
)
def test_a_backbone_may_be_known_by_its_name_alone_or_by_the_class_of_the_detector(config: Json, total: int) -> None:
    assert hfcount.blueprint(config).total == total


@pytest.mark.parametrize("switches", [{"backbone": "resnet50"}, {"backbone_kwargs": {"img_size": 100}}])
def test_what_img_size_does_to_a_model_of_timm_is_not_guessed(switches: Json) -> None:
    with pytest.raises(UnknownArchitecture, match="img_size"):
        hfcount.blueprint({"model_type": "omdet-turbo", **switches})


@pytest.mark.parametrize(
    ("asked", "width"),
    [
        ({"out_features": ["stem"]}, 24),
        ({"out_features": ["stage1", "stage3"]}, 48),
        ({"out_indices": [1, -1]}, 48),
        ({"out_indices": [0, 3], "out_features": ["stem", "stage3"]}, 48),
        ({}, 24),
    ],
)
def test_as_many_features_are_joined_as_the_backbone_gives_out(asked: Json, width: int) -> None:
    config = {"model_type": "lw_detr", "projector_scale_factors": [1.0], "backbone_config": {**VIT, **asked}}
    joined = next(
        one for one in hfcount.blueprint(config).tensors() if one.name.endswith("projector_layer.conv1.conv.weight")
    )
    assert joined.shape[1] == width


@pytest.mark.parametrize(
    "asked",
    [
        {"out_features": ["stage4"]},
        {"out_features": ["stage03"]},
        {"out_features": ["head"]},
        {"out_indices": [4]},
        {"out_indices": [2, 1]},
        {"out_indices": [1, 1]},
        {"out_indices": [1], "out_features": ["stage2"]},
        {"out_indices": []},
        {"out_indices": "last"},
    ],
)
def test_features_that_no_stage_gives_are_an_error(asked: Json) -> None:
    config = {"model_type": "lw_detr", "projector_scale_factors": [1.0], "backbone_config": {**VIT, **asked}}
    with pytest.raises(ConfigError, match="out_"):
        hfcount.blueprint(config)


RESNET = {"architectures": ["ResNetBackbone"], "depths": [1, 1, 1]}
NAMED = ["stem", "stage1", "stage2", "stage3"]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"stage_names": NAMED}, None),
        ({"stage_names": [*NAMED, "further"]}, None),
        ({"stage_names": ["a", "b", "c", "stage3"]}, None),
        ({"stage_names": "stem,stage1", "out_features": []}, None),
        ({"stage_names": None, "architectures": ["ResNetModel"]}, None),
        ({"stage_names": None}, "stage_names"),
        ({"stage_names": "stem,stage1,stage2,stage3"}, "stage_names"),
        ({"stage_names": 4}, "stage_names"),
        ({"stage_names": NAMED[:-1]}, "stage_names"),
        ({"stage_names": NAMED[::-1]}, "stage_names"),
        ({"stage_names": [*NAMED, "stage3"]}, "stage_names"),
        ({"stage_names": NAMED[:3], "out_features": ["stage1"]}, None),
        ({"stage_names": NAMED[:3], "out_indices": [1]}, None),
        ({"stage_names": ["stem", "stage2", "stage1"], "out_indices": [1]}, "stage_names"),
        ({"stage_names": NAMED, "out_features": ["stage4"]}, "out_features"),
    ],
)
def test_a_backbone_looks_up_its_stages_in_the_names_that_the_config_gives(values: Json, key: str | None) -> None:
    assert [refusal.key for refusal in refusals({**RESNET, **values}, "resnet")] == ([key] if key else [])


@pytest.mark.parametrize(
    ("kind", "values", "key"),
    [
        ("pvt_v2", {"stage_names": ["stage1", "stage2", "stage3", "stage4"]}, None),
        ("pvt_v2", {"stage_names": ["stem", "stage1", "stage2", "stage3", "stage4"]}, "stage_names"),
        ("pvt_v2", {"out_features": ["stem"]}, "out_features"),
        ("textnet", {"out_features": ["stage5"]}, "out_features"),
        ("pp_lcnet", {"out_features": ["stage6"]}, "out_features"),
        ("pp_lcnet", {"block_configs": None, "out_features": ["stage5"]}, None),
        ("convnext", {"stage_names": ["stem", "stage1", "stage2", "stage3", "stage4", "further"]}, "stage_names"),
    ],
)
def test_stages_are_those_of_the_class(kind: str, values: Json, key: str | None) -> None:
    named = {"architectures": ["SomeBackbone"], **values}
    assert [refusal.key for refusal in refusals(named, kind)] == ([key] if key else [])


def test_stages_of_a_config_are_named_in_short_however_many_there_are() -> None:
    names = [f"s\x1b{number}" for number in range(5_000)]
    chosen = {"stage_names": names, "out_features": names[::-1]}
    found = [*stages(AcceptedValues(), {"architectures": ["SomeBackbone"], **chosen}, {})]
    assert [key for key, _, _ in found] == ["out_features"]
    assert "and 4,988 more" in found[0][2]
    (refusal,) = refusals({"architectures": ["ResNetBackbone"], "depths": [1] * 3_000, "stage_names": names}, "resnet")
    assert refusal.needed.isprintable()
    assert len(refusal.needed) < 400


def test_wide_features_are_made_narrower_before_they_are_enlarged() -> None:
    wide = {**VIT, "hidden_size": 520}
    config = {"model_type": "lw_detr", "projector_scale_factors": [2.0], "backbone_config": wide}
    found = {one.name: tuple(one.shape) for one in hfcount.blueprint(config).tensors()}
    layers = "model.backbone.projector.scale_layers.0.sampling_layers.0.layers"
    assert found[f"{layers}.0.conv.weight"] == (260, 520, 1, 1)
    assert found[f"{layers}.1.weight"] == (260, 130, 2, 2)


def test_boxes_that_all_layers_share_are_stored_under_the_first_ones_name() -> None:
    found = hfcount.blueprint({**DEIM, "share_bbox_head": True, "decoder_layers": 3})
    boxes = [one.name for one in found.tensors() if "bbox_embed" in one.name]
    assert boxes == [
        f"model.decoder.bbox_embed.0.layers.{layer}.{kind}" for layer in range(3) for kind in ("weight", "bias")
    ]


@pytest.mark.parametrize(
    ("places", "width"), [([1, 2], 256), ([2, 3], 512)]
)  # as hidden_sizes says, and not stage_out_channels
def test_a_backbone_tells_a_detector_how_wide_its_features_are(places: list[int], width: int) -> None:
    config = {**DEIM, "backbone_config": {"model_type": "hgnet_v2", "out_indices": places}}
    taken = next(one for one in hfcount.blueprint(config).tensors() if ".encoder_input_proj.0.conv." in one.name)
    assert taken.shape[1] == width


@pytest.mark.parametrize(
    "switches", [{"eval_idx": 2}, {"share_bbox_head": True, "tie_word_embeddings": False}], ids=str
)
def test_what_is_not_described_of_deimv2_is_said(switches: Json) -> None:
    with pytest.raises(UnknownArchitecture):
        hfcount.blueprint({**DEIM, **switches})


@pytest.mark.parametrize(
    "switches", [{"decoder_n_points": [4]}, {"decoder_n_points": [4, 4]}, {"head_dim": 31}], ids=str
)
@pytest.mark.parametrize("model_type", ["deimv2", "d_fine"])
def test_points_are_listed_for_each_level_and_heads_share_the_width(model_type: str, switches: Json) -> None:
    with pytest.raises(ConfigError, match="orrect"):
        hfcount.blueprint({"model_type": model_type, **switches})


@pytest.mark.parametrize("model_type", ["swin", "swinv2"])
def test_each_stage_of_swin_has_its_number_of_heads(model_type: str) -> None:
    with pytest.raises(ConfigError, match="5 stages"):
        hfcount.blueprint({"model_type": model_type, "depths": [2, 2, 2, 2, 2]})
