"""What diffusers builds of any config of the classes described has the names and shapes that hfcount says."""

import json
from math import prod
from pathlib import Path

import pytest

import hfcount
from hfcount.mapper.class_defaults import declared, diffusers_version

_EXTRA = "`pip install -e '.[oracle]'` brings torch and diffusers"
pytest.importorskip("torch", reason=_EXTRA)
diffusers = pytest.importorskip("diffusers", reason=_EXTRA)
from diffusers_oracle import RECORDED, Json, described, judged, variants  # noqa: E402 - imports diffusers, which may be absent

pytestmark = pytest.mark.long

EACH = 5


@pytest.mark.parametrize("name", RECORDED)
def test_varied_configs_agree(name: str) -> None:
    told = [(judged(values), values) for values in variants(RECORDED[name], EACH, "always")]
    assert [(how, values) for (verdict, how), values in told if verdict == "differs"] == []
    assert told[0][0][0] == "agrees"


@pytest.mark.parametrize("name", RECORDED)
def test_a_config_without_keys_is_the_class_without_arguments(name: str) -> None:
    verdict, how = judged({"_class_name": name})
    assert verdict in ("agrees", "refused"), how  # some need arguments, and both say so


UNET = {"block_out_channels": [32, 64], "norm_num_groups": 8, "attention_head_dim": 8, "layers_per_block": 1}
BOTH = {"cross_attention_dim": 32, "encoder_hid_dim": 24}


def _kinds(stem: str, down: str, up: str) -> Json:
    """Stages that attend as `stem` says, behind and before one that does not."""
    return {"down_block_types": [down, f"{stem}DownBlock2D"], "up_block_types": [f"{stem}UpBlock2D", up]}


SIMPLE = _kinds("SimpleCrossAttn", "ResnetDownsampleBlock2D", "ResnetUpsampleBlock2D")
VARIANTS: dict[str, Json] = {
    "of Kandinsky": BOTH
    | SIMPLE
    | {"mid_block_type": "UNetMidBlock2DSimpleCrossAttn", "addition_embed_type": "image_hint"}
    | {"encoder_hid_dim_type": "image_proj", "resnet_time_scale_shift": "scale_shift"},
    "of IF": BOTH
    | SIMPLE
    | {"only_cross_attention": True, "cross_attention_norm": "group_norm", "addition_embed_type": "text"}
    | {"mid_block_type": "UNetMidBlock2DSimpleCrossAttn", "encoder_hid_dim_type": "text_proj"},
    "of the upscaler": _kinds("KCrossAttn", "KDownBlock2D", "KUpBlock2D")
    | {"cross_attention_dim": 32, "norm_num_groups": None, "mid_block_type": None, "time_cond_proj_dim": 12},
    "of GLIGEN": {"cross_attention_dim": 32, "attention_type": "gated", "use_linear_projection": True}
    | {"down_block_types": ["CrossAttnDownBlock2D"] * 2, "up_block_types": ["CrossAttnUpBlock2D"] * 2},
    "with two transformers in each place": {"cross_attention_dim": 32, "dual_cross_attention": True}
    | {"down_block_types": ["CrossAttnDownBlock2D"] * 2, "up_block_types": ["CrossAttnUpBlock2D"] * 2},
    "with a second way for the image": {"mid_block_type": None, "cross_attention_dim": 32}
    | {"down_block_types": ["SkipDownBlock2D", "AttnSkipDownBlock2D"]}
    | {"up_block_types": ["AttnSkipUpBlock2D", "SkipUpBlock2D"]},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_u_nets_of_every_kind_agree(changes: Json) -> None:
    verdict, how = judged({"model_type": "UNet2DConditionModel", **UNET, **changes})
    assert verdict == "agrees", how


def test_norms_that_latents_set_agree() -> None:
    blocks = {"down_block_types": ["AttnDownEncoderBlock2D"] * 2, "up_block_types": ["AttnUpDecoderBlock2D"] * 2}
    for kind in ("spatial", "default", "other"):
        config = {"model_type": "VQModel", "block_out_channels": [32, 64], "norm_type": kind, **blocks}
        assert judged(config)[0] == "agrees", kind


def test_defaults_are_those_that_diffusers_declares() -> None:
    from diffusers_defaults import FILE, recorded, text

    if diffusers.__version__ != diffusers_version():
        pytest.skip(f"the record is of diffusers {diffusers_version()}, and {diffusers.__version__} is installed")
    assert FILE.read_text() == text(recorded())
    assert declared("AutoencoderKL").settled


def test_a_class_that_no_family_describes_is_built_by_diffusers(tmp_path: Path) -> None:
    config: Json = {"_class_name": "AsymmetricAutoencoderKL"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    report = hfcount.verify(str(tmp_path), depth="config", derive_with="diffusers")
    assert report.derived_with == f"diffusers {diffusers.__version__}"
    theirs = described(config)
    assert report.parameters is not None
    assert report.parameters.total == sum(map(prod, theirs.values()))
