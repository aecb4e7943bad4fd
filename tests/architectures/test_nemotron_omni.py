"""Keys and tensors of the first Nemotron 3 Omni, whose config and names are older than those of transformers."""

import json
from copy import deepcopy

import pytest
from build import Json
from paths import ARCHITECTURES

import hfcount
from hfcount.errors import ConfigError, UnknownArchitecture

RECORDED: Json = json.loads((ARCHITECTURES / "nemotron_h_omni.json").read_text())["config"]
SINCE = {"llm_config": "text_config", "sound_config": "audio_config", "vit_hidden_size": "vision_hidden_size"}


def _first() -> Json:
    """The recorded config with the keys of the first checkpoints."""
    values = deepcopy(RECORDED)
    for before, now in SINCE.items():
        values[before] = values.pop(now)
    told = {key: value for key, value in values["sound_config"].items() if key not in ("attention_bias", "scale_input")}
    return {**values, "sound_config": {**told, "model_type": "parakeet", "sampling_rate": 16_000}}


def test_the_first_keys_mean_what_the_later_ones_do() -> None:
    first, later = hfcount.blueprint(_first()), hfcount.blueprint(RECORDED)
    assert {tensor.name: tensor.shape for tensor in first.tensors()} == {
        tensor.name: tensor.shape for tensor in later.tensors()
    }


class Stored:
    """What a tensor is told by."""

    def __init__(self, *shape: int, dtype: str = "bfloat16") -> None:
        self.shape, self.dtype = shape, dtype


def test_what_the_first_checkpoints_store_and_lack() -> None:
    values = {**_first(), "torch_dtype": "bfloat16", "vit_hidden_size": RECORDED["vision_config"]["hidden_size"]}
    found = {
        tensor.name: Stored(*tensor.shape, dtype="int64" if tensor.name.endswith("tracked") else "bfloat16")
        for tensor in hfcount.blueprint(values).tensors()
        if "lambda1" not in tensor.name and "summary_idxs" not in tensor.name and "final" not in tensor.name
    }
    featurizer = "sound_encoder.encoder.feature_extractor.featurizer"
    found[f"{featurizer}.fb"] = Stored(1, RECORDED["audio_config"]["num_mel_bins"], 257)
    found[f"{featurizer}.window"] = Stored(400)
    for which in ("mean", "std"):
        found[f"vision_model.radio_model.input_conditioner.norm_{which}"] = Stored(3, 1, 1)
    report = hfcount.verify_tensors(values, found)
    assert (report.verdict, {one.code for one in report.findings} - {"HF207"}) == ("explained", {"HF204"})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"llm_config": 7}, "llm_config is 7, but must be an object"),
        ({"sound_config": []}, "sound_config is a list, but must be an object"),
        ({"sound_config": {}}, "sound_config: no projection_hidden_size"),
        ({"downsample_ratio": 3}, "downsample_ratio must be at most 1"),
        ({"video_temporal_patch_size": 99}, "video_temporal_patch_size is 99, and"),
    ],
)
def test_contradictions_are_said(change: Json, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        hfcount.blueprint({**_first(), **change})


def test_another_tower_is_refused_by_name() -> None:
    with pytest.raises(UnknownArchitecture, match="described with a backbone of type radio alone"):
        hfcount.blueprint({**_first(), "vision_config": {"model_type": "clip_vision_model"}})
