"""Models that transformers takes from other libraries: as many parameters and tensors as timm and detectron2 build."""

from math import prod
from typing import Any

import pytest
from build import Json
from tables import over

import hfcount
from hfcount.errors import ConfigError, UnknownArchitecture

CORE, LANG, SPATIAL = "vit_pe_core_tiny_patch16_384", "vit_pe_lang_large_patch14_448", "vit_pe_spatial_tiny_patch16_512"

TIMM: list[tuple[str, Json, int, int]] = [  # architecture, model_args, parameters and tensors of timm 1.0.31, 5 classes
    (CORE, {}, 6_043_205, 166),
    ("vit_pe_core_small_patch16_384", {}, 23_587_973, 166),
    ("vit_pe_core_base_patch16_224", {}, 92_890_373, 166),
    ("vit_pe_core_large_patch14_336", {}, 316_107_781, 310),
    ("vit_pe_core_gigantic_patch14_448", {}, 1_880_074_245, 621),
    (LANG, {}, 291_420_165, 329),
    ("vit_pe_lang_gigantic_patch14_448", {}, 1_740_930_309, 664),
    (SPATIAL, {}, 5_684_165, 151),
    ("vit_pe_spatial_small_patch16_512", {}, 21_985_157, 151),
    ("vit_pe_spatial_base_patch16_512", {}, 86_437_637, 151),
    ("vit_pe_spatial_large_patch14_448", {}, 303_969_285, 295),
    ("vit_pe_spatial_gigantic_patch14_448", {}, 1_851_894_789, 706),
    ("fastvit_t8", {}, 3_261_077, 462),
    ("fastvit_t12", {}, 6_533_829, 530),
    ("fastvit_s12", {}, 8_453_701, 530),
    ("fastvit_sa12", {}, 10_561_093, 504),
    ("fastvit_sa24", {}, 20_534_341, 884),
    ("fastvit_sa36", {}, 30_507_589, 1264),
    ("fastvit_ma36", {}, 42_857_089, 1264),
    ("fastvit_mci0", {}, 10_887_301, 784),
    ("fastvit_mci1", {}, 21_021_957, 1436),
    ("fastvit_mci2", {}, 35_165_765, 1572),
    ("fastvit_mci3", {}, 122_890_949, 1531),
    ("fastvit_mci4", {}, 318_658_821, 1565),
    ("fastvit_mci3", {"inference_mode": True}, 122_729_573, 630),
    ("fastvit_mci0", {"inference_mode": True, "in_chans": 4}, 10_838_405, 310),
    (CORE, {"depth": 2}, 1_594_565, 46),
    (CORE, {"global_pool": ""}, 5_598_533, 153),
    (CORE, {"global_pool": "avg"}, 5_598_533, 153),
    (CORE, {"embed_dim": 96, "num_heads": 4, "attn_pool_num_heads": 4}, 1_583_909, 166),
    (CORE, {"mlp_ratio": 2.5}, 4_712_645, 166),
    (CORE, {"attn_pool_mlp_ratio": 2}, 5_895_365, 166),
    (CORE, {"img_size": [192, 384]}, 5_987_909, 166),
    (CORE, {"patch_size": 32, "in_chans": 1}, 6_009_413, 166),
    (CORE, {"patch_size": [32, 32], "in_chans": 1}, 6_009_413, 166),
    (CORE, {"num_reg_tokens": 4}, 6_044_741, 167),
    (CORE, {"num_reg_tokens": 4, "no_embed_class": True}, 6_043_781, 167),
    (CORE, {"class_token": False}, 6_042_821, 165),
    (CORE, {"use_abs_pos_emb": False}, 5_932_421, 165),
    (CORE, {"use_pre_transformer_norm": False}, 6_043_013, 165),
    (CORE, {"use_post_transformer_norm": False}, 6_042_821, 164),
    (CORE, {"use_fc_norm": True}, 6_043_205, 166),
    (CORE, {"init_values": 0.1}, 6_047_813, 190),
    (CORE, {"qkv_bias": False}, 6_036_293, 154),
    (CORE, {"depth": None, "ref_feat_shape": [8, 8], "drop_path_rate": 0.1}, 6_043_205, 166),
    (LANG, {"depth": 1, "global_pool": "map"}, 26_853_381, 34),
    (LANG, {"depth": 1, "init_values": None}, 14_258_181, 21),
    (SPATIAL, {"use_post_transformer_norm": True}, 5_684_549, 153),
]


def _timm(architecture: str, args: object = None, **more: Any) -> Json:
    known = {"model_type": "timm_wrapper", "architectures": ["TimmWrapperForImageClassification"], "num_classes": 5}
    return {**known, "architecture": architecture, "model_args": args, **more}


@over(("architecture", "args", "parameters", "tensors"), TIMM)
def test_what_timm_builds(architecture: str, args: Json, parameters: int, tensors: int) -> None:
    blueprint = hfcount.blueprint(_timm(architecture, args))
    assert (blueprint.total, len(list(blueprint.tensors()))) == (parameters, tensors)


@pytest.mark.parametrize(
    ("architecture", "args", "said"),
    [
        ("swin_tiny_patch4_window9_224", None, "has no architecture"),
        ("vit_base_patch16_224", {"depth": 3}, "what depth in model_args changes"),
        (CORE, {"patch_size": [16, 32]}, "oblong patches"),
        (CORE, {"swiglu_mlp": True}, "with swiglu_mlp in model_args is not described"),
        ("fastvit_t8", {"layers": [1, 1, 1, 1]}, "with layers in model_args is not described"),
    ],
)
def test_what_timm_has_besides_is_refused_by_name(architecture: str, args: Json | None, said: str) -> None:
    with pytest.raises(UnknownArchitecture, match=said):
        hfcount.blueprint(_timm(architecture, args))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"num_classes": 3}, "must not give num_classes"),
        ({"global_pool": "most"}, "no way to pool"),
        ({"global_pool": "token", "class_token": False}, "class_token is false"),
        ({"num_heads": 5}, "not a multiple of the 5 attention heads"),
        ({"attn_pool_num_heads": 5}, "not a multiple of the 5 attention heads"),
        ({"img_size": "large"}, "img_size"),
        ([], "must be an object"),
    ],
)
def test_arguments_that_timm_refuses(args: object, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        hfcount.blueprint(_timm(CORE, args))


@pytest.mark.parametrize(
    ("labels", "rows"),
    [
        ({"num_labels": 7}, 7),
        ({"id2label": {"0": "a", "1": "b", "2": "c"}}, 3),
        ({"label_names": ["a", "b", "c", "d"], "num_classes": 1024}, 4),
        ({"num_classes": 1024}, 2),
    ],
)
def test_the_head_of_a_model_of_timm_within_another(labels: Json, rows: int) -> None:
    blueprint = hfcount.blueprint({"model_type": "pe_video_encoder", "vision_config": {"architecture": CORE, **labels}})
    shapes = {tensor.name: tensor.shape for tensor in blueprint.tensors()}
    assert shapes["embedder.vision_model.timm_model.head.weight"] == (rows, 192)
    assert shapes["embedder.proj.weight"] == (1792, rows)


PAGES: Json = {
    "model_type": "layoutlmv2",
    "architectures": ["LayoutLMv2Model"],
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "vocab_size": 10,
    "max_position_embeddings": 4,
    "max_2d_position_embeddings": 4,
    "coordinate_size": 2,
    "shape_size": 4,
    "image_feature_pool_shape": [7, 7],
}
PYRAMID: Json = {
    "MODEL.BACKBONE.NAME": "build_resnet_fpn_backbone",
    "MODEL.FPN.IN_FEATURES": ["res2", "res3", "res4", "res5"],
    "MODEL.RESNETS.OUT_FEATURES": ["res2", "res3", "res4", "res5"],
}
RESNEXT: Json = {"RESNETS.DEPTH": 101, "RESNETS.NUM_GROUPS": 32, "RESNETS.WIDTH_PER_GROUP": 8}


@pytest.mark.parametrize(
    ("args", "elements", "tensors"),  # that transformers 5.23 saves with detectron2 0.6
    [
        (None, 90_296_088, 567),
        (RESNEXT, 90_296_088, 567),
        ({}, 26_912_024, 312),
        ({"RESNETS.DEPTH": 152}, 61_646_104, 822),
        ({"RESNETS.DEPTH": 18, "RESNETS.RES2_OUT_CHANNELS": 64}, 13_799_704, 147),
        ({"RESNETS.DEPTH": 34, "RESNETS.RES2_OUT_CHANNELS": 64}, 23_915_288, 227),
        ({"RESNETS.STEM_OUT_CHANNELS": 32}, 26_896_952, 312),
        ({"RESNETS.STEM_OUT_CHANNELS": 256}, 26_935_896, 307),
        ({"RESNETS.RES2_OUT_CHANNELS": 128}, 19_632_408, 312),
        ({"FPN.OUT_CHANNELS": 64}, 23_958_296, 312),
        ({"PIXEL_MEAN": [1.0], "PIXEL_STD": [1.0]}, 26_905_752, 312),
    ],
)
def test_what_detectron2_builds(args: Json | None, elements: int, tensors: int) -> None:
    own = None if args is None else PYRAMID | {f"MODEL.{key}": value for key, value in args.items()}
    stored = list(hfcount.blueprint({**PAGES, "detectron2_config_args": own}).tensors())
    assert (sum(prod(tensor.shape) for tensor in stored), len(stored)) == (elements, tensors)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("BACKBONE.NAME", "build_resnet_backbone"),
        ("META_ARCHITECTURE", "RetinaNet"),
        ("FPN.NORM", "GN"),
        ("RESNETS.NORM", "BN"),
        ("RESNETS.DEFORM_ON_PER_STAGE", [True, False, False, False]),
    ],
)
def test_what_detectron2_has_besides_is_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(UnknownArchitecture, match=f"a MODEL.{key} other than LayoutLMv2's own is not described"):
        hfcount.blueprint({**PAGES, "detectron2_config_args": {**PYRAMID, f"MODEL.{key}": value}})


@pytest.mark.parametrize(
    ("key", "value"),
    [("RESNETS.DEPTH", 77), ("RESNETS.DEPTH", 34), ("FPN.IN_FEATURES", ["res3", "res4"]), ("PIXEL_MEAN", [1.0])],
)
def test_arguments_that_detectron2_refuses(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"MODEL.{key}"):
        hfcount.blueprint({**PAGES, "detectron2_config_args": {**PYRAMID, f"MODEL.{key}": value}})
