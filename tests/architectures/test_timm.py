"""Models of timm by name, against the parameters that timm 1.0.31 counts in them."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click import BadParameter

import hfcount
from hfcount.architectures.components.timm.catalogue import TimmSizes, known, names, tensors
from hfcount.cli.info import type_lines
from hfcount.errors import ConfigError, UnknownArchitecture

FEATURES: dict[str, Any] = {"features_only": True}


def wrapped(architecture: str, **asked: Any) -> dict[str, Any]:
    """A config of one of timm's models; `asked` is what it asks of timm."""
    own = {"model_type": "timm_wrapper", "architectures": ["TimmWrapperModel"], "num_classes": 7}
    return {**own, "architecture": architecture, "model_args": asked}


@pytest.mark.parametrize(
    ("architecture", "asked", "parameters"),
    [
        ("repvit_m1", {}, 4_713_712),
        ("repvit_m1", FEATURES, 4_713_712),
        ("repvit_m1.dist_in1k", FEATURES | {"out_indices": [0, 1, 2, 3]}, 4_713_712),
        ("repvit_m1", FEATURES | {"out_indices": [0, 1]}, 168_352),
        ("repvit_m1", FEATURES | {"out_indices": [-4, -3]}, 168_352),
        ("repvit_m0_9", FEATURES, 4_717_792),
        ("repvit_m1_0", FEATURES, 6_403_004),
        ("repvit_m1_5", FEATURES | {"out_indices": [1]}, 477_440),
        ("repvit_m2_3", {}, 22_404_232),
        ("repvit_m3", {}, 9_654_784),
    ],
)
def test_a_repvit_has_the_parameters_that_timm_counts(
    architecture: str, asked: dict[str, Any], parameters: int
) -> None:
    assert hfcount.blueprint(wrapped(architecture, **asked)).total == parameters


def test_stages_are_named_after_what_is_asked_for() -> None:
    plain, features = (hfcount.blueprint(wrapped("repvit_m1", **asked)) for asked in ({}, FEATURES))
    assert any(tensor.name.startswith("timm_model.stages.3.") for tensor in plain.tensors())
    assert any(tensor.name.startswith("timm_model.stages_3.") for tensor in features.tensors())


def test_features_end_with_the_last_that_is_asked_for() -> None:
    names = [tensor.name for tensor in hfcount.blueprint(wrapped("resnet50", out_indices=[0, 3], **FEATURES)).tensors()]
    assert any(".layer3." in name for name in names)
    assert not any(".layer4." in name for name in names)


@pytest.mark.parametrize(
    ("architecture", "asked", "error"),
    [
        ("repvit_m1", FEATURES | {"out_indices": [4]}, ConfigError),
        ("repvit_m1", FEATURES | {"out_indices": []}, ConfigError),
        ("repvit_m1", FEATURES | {"out_indices": "all"}, ConfigError),
        ("repvit_m1", {"in_chans": 0.5}, ConfigError),
        ("repvit_m1", {"out_indices": [0]}, UnknownArchitecture),
        ("repvit_m1", {"legacy": False}, UnknownArchitecture),
        ("repvit_m9", {}, UnknownArchitecture),
        ("vit_tiny_patch16_224", FEATURES, UnknownArchitecture),
    ],
)
def test_what_is_not_known_of_timm_is_refused(architecture: str, asked: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        hfcount.blueprint(wrapped(architecture, **asked))


SAVED = [json.loads(line) for line in Path(__file__).with_name("timm.jsonl").read_text().splitlines()]
OWN: dict[str, Any] = SAVED[0]["config"]


@pytest.mark.parametrize("saved", SAVED, ids=lambda one: str(one["config"]["architecture"]))
def test_what_timm_saves_has_the_names_and_shapes_that_follow_from_its_config(saved: dict[str, Any]) -> None:
    found = hfcount.blueprint(saved["config"])
    shapes = sorted((tensor.name, list(tensor.shape)) for tensor in found.tensors())
    assert found.total == saved["parameters"]
    assert hashlib.sha256(json.dumps(shapes).encode()).hexdigest() == saved["shapes"]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"architecture": "resnet19"}, UnknownArchitecture),
        ({"model_args": {"depth": 3}}, UnknownArchitecture),
        ({"model_args": {"in_chans": None}}, UnknownArchitecture),
        ({"model_args": {"num_classes": 7}}, ConfigError),  # timm drops the stored head
        ({"model_args": {"img_size": 224}}, ConfigError),  # which a ResNet does not take
        ({"num_classes": "1000"}, ConfigError),
        ({"pretrained_cfg": {"unheard_of": 1}}, UnknownArchitecture),
        ({"pretrained_cfg": {"fixed_input_size": True}}, ConfigError),
    ],
)
def test_what_timm_does_not_build_or_load_is_refused(changes: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        hfcount.blueprint(OWN | changes)


def test_a_config_of_earlier_versions_is_one_object() -> None:
    once = {"architecture": "resnet18", "num_features": 512, "num_classes": 3, "input_size": [1, 224, 224]}
    found = {tensor.name: tensor.shape for tensor in hfcount.blueprint(once).tensors()}
    assert found["conv1.weight"] == (64, 1, 7, 7)
    assert found["fc.weight"] == (3, 512)


def test_the_wrapper_has_models_of_the_list_with_its_prefix() -> None:
    names = {tensor.name for tensor in hfcount.blueprint(wrapped("mobilenetv3_small_100")).tensors()}
    assert "timm_model.conv_stem.weight" in names
    assert not any("classifier" in name for name in names)


def test_every_listed_model_can_be_read() -> None:
    found = [known(name) for name in names()[::50]]
    sizes = TimmSizes(5, 3, 9)
    assert all(
        model and tensors(model, root, sizes).children for model in found for root in (model.roots if model else ())
    )


def beside(architecture: str, changed: dict[str, str], further: tuple[str, ...] = ()) -> str:
    """The verdict on a model of timm whose names are changed, and that has further tensors."""
    config = {"architecture": architecture, "num_classes": 7}
    stored = {
        tensor.name: (tensor.shape, "I64" if tensor.name.endswith("batches_tracked") else "F32")
        for tensor in hfcount.blueprint(config).tensors()
    }
    for pattern, new in changed.items():
        stored = {re.sub(pattern, new, name): one for name, one in stored.items()}
    stored |= dict.fromkeys(further, ((3,), "F32"))
    try:
        return hfcount.verify_tensors(config, stored).verdict
    except UnknownArchitecture:
        return "unverified"


@pytest.mark.parametrize(
    ("architecture", "changed", "further", "verdict"),
    [
        ("swin_tiny_patch4_window7_224", {}, (), "verified"),
        ("swin_tiny_patch4_window7_224", {}, ("layers.0.blocks.0.attn.relative_position_index",), "explained"),
        ("swin_tiny_patch4_window7_224", {}, ("layers.0.blocks.1.attn_mask",), "explained"),
        ("swin_tiny_patch4_window7_224", {}, ("layers.0.blocks.1.other",), "mismatch"),
        ("swin_tiny_patch4_window7_224", {r"^head\.fc": "head"}, (), "unverified"),
        ("swin_tiny_patch4_window7_224", {r"^head\.fc": "classes"}, (), "mismatch"),
        ("swin_tiny_patch4_window7_224", {r"^layers.1.downsample": "layers.0.downsample"}, (), "unverified"),
        ("levit_128s", {}, ("stages.0.blocks.0.attn.attention_bias_idxs",), "explained"),
        ("vit_tiny_patch16_224", {}, ("pre_logits.fc.weight",), "explained"),
        ("vit_tiny_patch16_224", {}, ("fc_logits.weight",), "mismatch"),
        ("convnext_atto", {r"conv_dw": "dwconv"}, (), "unverified"),
        ("convnext_atto", {}, ("projectors.0.weight",), "mismatch"),  # dropped of earlier names alone
        ("convnext_atto", {r"conv_dw": "depthwise"}, (), "mismatch"),
        ("resnet18", {r"^": "module.visual."}, (), "mismatch"),
        ("resnet18", {r"^fc": "visual.fc"}, (), "mismatch"),
    ],
)
def test_names_of_earlier_files(
    architecture: str, changed: dict[str, str], further: tuple[str, ...], verdict: str
) -> None:
    assert beside(architecture, changed, further) == verdict


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("timm/resnet50.a1_in1k", ("timm/resnet50: 25,557,032 parameters", "img_size is not an argument", "resnet.py")),
        ("timm/vit_tiny_patch16_224", ("5,717,416 parameters", "positions follow img_size", "token by default, none")),
        ("timm/levit_128s", ("224 by 224 pixels; others are not followed",)),
        ("timm/efficientnet_b1_pruned", ("6,331,916 parameters",)),
    ],
)
def test_what_is_known_of_a_model_by_its_name(name: str, says: tuple[str, ...]) -> None:
    text = "\n".join(type_lines(name))
    assert [one for one in says if one not in text] == []


@pytest.mark.parametrize(
    ("name", "says"), [("timm/resnet51", "Nearest known: resnet51q"), ("timm/", "no architecture")]
)
def test_a_name_that_timm_does_not_have(name: str, says: str) -> None:
    with pytest.raises(BadParameter, match=says):
        list(type_lines(name))
