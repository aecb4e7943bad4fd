"""Parts of a pipeline that fit each other, and parts that do not."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from hfcount.checkpoints.pipeline.signatures import alike, signature
from hfcount.checkpoints.pipeline.size_rules import RULES
from hfcount.checkpoints.pipeline.sizes import misfits
from hfcount.formats.model_index import Entry

T5, VAE = {"model_type": "t5", "d_model": 4096}, {"latent_channels": 16, "shift_factor": 0.1}
CLIP = {"model_type": "clip_text_model", "hidden_size": 768, "projection_dim": 768}
BIG = {"model_type": "clip_text_model", "hidden_size": 1280, "projection_dim": 1280}

SOUND: Mapping[str, tuple[Mapping[str, Mapping[str, Any]], str, Any]] = {
    "StableDiffusionPipeline": (
        {"unet": {"cross_attention_dim": 768}, "text_encoder": CLIP, "vae": {"latent_channels": 4}},
        *("unet.cross_attention_dim", 1024),
    ),
    "StableDiffusionInpaintPipeline": (
        {"unet": {"in_channels": 9, "cross_attention_dim": 768}, "text_encoder": CLIP, "vae": {"latent_channels": 4}},
        *("unet.in_channels", 8),
    ),
    "StableDiffusionXLPipeline": (
        {
            "unet": {
                "cross_attention_dim": 2048,
                "addition_time_embed_dim": 256,
                "projection_class_embeddings_input_dim": 2816,
            },
            "text_encoder": CLIP,
            "text_encoder_2": BIG,
            "vae": {"latent_channels": 4},
        },
        *("text_encoder_2.projection_dim", 768),
    ),
    "StableDiffusion3Pipeline": (
        {
            "transformer": {"joint_attention_dim": 4096, "pooled_projection_dim": 2048, "in_channels": 16},
            "text_encoder": CLIP,
            "text_encoder_2": BIG,
            "text_encoder_3": T5,
            "vae": VAE,
        },
        *("vae.shift_factor", None),
    ),
    "FluxPipeline": (
        {"transformer": {"in_channels": 64}, "text_encoder": CLIP, "text_encoder_2": T5, "vae": VAE},
        *("text_encoder.hidden_size", 512),
    ),
    "FluxFillPipeline": (
        {
            "transformer": {"in_channels": 384, "out_channels": 64},
            "text_encoder": CLIP,
            "text_encoder_2": T5,
            "vae": {**VAE, "block_out_channels": [128, 256, 512, 512]},
        },
        *("transformer.out_channels", 384),
    ),
    "WanImageToVideoPipeline": (
        {
            "transformer": {"in_channels": 36, "image_dim": 1280},
            "text_encoder": {"model_type": "umt5", "d_model": 4096},
            "image_encoder": {"model_type": "clip_vision_model", "hidden_size": 1280},
            "vae": {"z_dim": 16},
        },
        *("image_encoder.hidden_size", 1024),
    ),
    "QwenImagePipeline": (
        {
            "transformer": {"in_channels": 64, "out_channels": 16, "joint_attention_dim": 3584},
            "text_encoder": {"model_type": "qwen2_5_vl", "text_config": {"hidden_size": 3584}},
            "vae": {"z_dim": 16},
        },
        *("vae.z_dim", 32),
    ),
    "Flux2Pipeline": (
        {
            "transformer": {"in_channels": 128, "joint_attention_dim": 15360},
            "text_encoder": {"model_type": "mistral3", "text_config": {"hidden_size": 5120}},
            "vae": {"latent_channels": 32},
        },
        *("transformer.joint_attention_dim", 5120),
    ),
    "StableDiffusionControlNetPipeline": (
        {
            "unet": {"cross_attention_dim": 768, "layers_per_block": [2, 2, 2, 2]},
            "controlnet": {"cross_attention_dim": 768, "layers_per_block": 2},
            "text_encoder": CLIP,
            "vae": {"latent_channels": 4},
        },
        *("controlnet.block_out_channels", [320, 640, 1280]),
    ),
    "StableCascadeDecoderPipeline": (
        {
            "decoder": {"in_channels": 4, "out_channels": 4, "clip_text_pooled_in_channels": 1280},
            "text_encoder": BIG,
            "vqgan": {"latent_channels": 4},
        },
        *("decoder.clip_text_pooled_in_channels", 768),
    ),
    "KandinskyV22Pipeline": (
        {"unet": {"in_channels": 4, "out_channels": 8}, "movq": {"latent_channels": 4, "vq_embed_dim": 4}},
        *("unet.out_channels", 4),
    ),
    "FluxControlNetPipeline": (
        {
            "transformer": {"in_channels": 64, "attention_head_dim": 128, "axes_dims_rope": [16, 56, 56]},
            "controlnet": {"in_channels": 64, "joint_attention_dim": 4096, "pooled_projection_dim": 768},
            "text_encoder": CLIP,
            "text_encoder_2": T5,
            "vae": VAE,
        },
        *("transformer.axes_dims_rope", [16, 56, 64]),
    ),
}
"""Configs of pipelines that go together, as far as they bear on it, and a value that does not."""

KINDS = {"unet": "UNet2DConditionModel", "vae": "AutoencoderKL", "controlnet": "ControlNetModel"}
TRANSFORMERS = {"Flux2": "Flux2", "Flux": "Flux", "Stable": "SD3", "Qwen": "QwenImage"}


def entries(kind: str, configs: Mapping[str, Any]) -> list[Entry]:
    first = next((name for start, name in TRANSFORMERS.items() if kind.startswith(start)), "")
    own = "WanTransformer3DModel" if kind.startswith("Wan") else f"{first}Transformer2DModel"
    return [Entry(name, "diffusers", KINDS.get(name, own)) for name in configs]


@pytest.mark.parametrize("kind", SOUND)
def test_parts_that_fit_and_one_that_does_not(kind: str) -> None:
    configs, path, value = SOUND[kind]
    assert [finding.text for finding in misfits(kind, entries(kind, configs), configs, {})] == []
    part, _, key = path.partition(".")
    broken = {**configs, part: {**configs[part], key: value}}
    found = list(misfits(kind, entries(kind, configs), broken, {}))
    assert found and all(finding.code == "HF814" and finding.fix for finding in found)
    assert any(path in finding.text for finding in found), [finding.text for finding in found]


def test_flow_matching_is_not_for_a_unet() -> None:
    scheduler = [Entry("scheduler", "diffusers", "FlowMatchEulerDiscreteScheduler")]
    assert [one.key for one in misfits("StableDiffusionPipeline", scheduler, {}, {})] == ["scheduler"]
    assert list(misfits("FluxPipeline", scheduler, {}, {})) == []


def test_every_rule_is_for_classes_that_take_its_parts() -> None:
    from hfcount.checkpoints.pipeline.signatures import _recorded

    for rule in RULES:
        kinds = [kind for kind in _recorded()[1] if re.fullmatch(rule.pipelines, kind)]
        parts = {*re.findall(r"(?<![.|\w])([a-z]\w*)\.", rule.rule)}
        taken = [kind for kind in kinds if (found := signature(kind)) and parts <= {*found.parts}]
        assert taken, rule


def test_a_class_is_known_by_its_name() -> None:
    found = signature("StableDiffusionPipeline")
    assert found and "unet" in found.required and "safety_checker" in found.optional
    assert (signature("NoSuchPipeline"), alike("StableDifusionPipeline")) == (None, ["StableDiffusionPipeline"])
