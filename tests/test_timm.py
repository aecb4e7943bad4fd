"""Models of timm by name, against the parameters that timm 1.0.31 counts in them."""

from typing import Any

import pytest

import hfcount
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
