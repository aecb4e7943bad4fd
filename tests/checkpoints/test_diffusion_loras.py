"""LoRAs of diffusion models against the parts of a pipeline, and other single files without a config."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from build import Json
from defects import raw
from pipeline_repos import described
from tables import over

import hfcount
from hfcount.checkpoints.adapter.diffusion.flux import JOINED_ROWS, flux_paths
from hfcount.checkpoints.adapter.diffusion.names import read_lora_names
from hfcount.checkpoints.adapter.diffusion.sgm import diffusers_path

UNET: Json = {
    "_class_name": "UNet2DConditionModel",
    "block_out_channels": [32, 64],
    "layers_per_block": 1,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"],
    "cross_attention_dim": 32,
    "attention_head_dim": 8,
}
CLIP: Json = {
    "architectures": ["CLIPTextModel"],
    "model_type": "clip_text_model",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "vocab_size": 100,
}
FLUX: Json = {
    "_class_name": "FluxTransformer2DModel",
    "in_channels": 4,
    "num_layers": 1,
    "num_single_layers": 1,
    "attention_head_dim": 16,
    "num_attention_heads": 2,
    "joint_attention_dim": 32,
    "pooled_projection_dim": 32,
    "axes_dims_rope": [4, 4, 8],
}
PIPELINES: dict[str, tuple[str, dict[str, tuple[str, Json]]]] = {
    "sd": (
        "StableDiffusionPipeline",
        {"unet": ("diffusers", UNET), "text_encoder": ("transformers", CLIP)},
    ),
    "flux": ("FluxPipeline", {"transformer": ("diffusers", FLUX), "text_encoder": ("transformers", CLIP)}),
}
ATTENTION = "down_blocks.1.attentions.0.transformer_blocks.0.attn1"
QUERY = f"{ATTENTION}.to_q"

Shapes = Mapping[str, tuple[int, ...]]


def base(folder: Path, kind: str) -> Path:
    """A pipeline's folder with the configs of its parts."""
    name, parts = PIPELINES[kind]
    index: Json = {"_class_name": name, "_diffusers_version": "0.42.1"}
    for part, (library, config) in parts.items():
        index[part] = [library, config.get("_class_name") or config["architectures"][0]]
        (folder / part).mkdir(parents=True)
        (folder / part / "config.json").write_text(json.dumps(config))
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


def pair(path: str, first: str = "lora_A", second: str = "lora_B", inputs: int = 64, outputs: int = 64) -> Shapes:
    return {f"{path}.{first}.weight": (4, inputs), f"{path}.{second}.weight": (outputs, 4)}


def kohya(path: str, inputs: int = 64, outputs: int = 64) -> Shapes:
    return {**pair(path, "lora_down", "lora_up", inputs, outputs), f"{path}.alpha": ()}


UNDERSCORED = f"lora_unet_{QUERY.replace('.', '_')}"
TEXT = "encoder.layers.0.self_attn.q_proj"
GOOD: dict[str, tuple[str, Shapes]] = {
    "of diffusers": ("sd", {**pair(f"unet.{QUERY}"), **pair(f"text_encoder.{TEXT}", inputs=32, outputs=32)}),
    "of earlier encoders": ("sd", pair(f"text_encoder.text_model.{TEXT}", inputs=32, outputs=32)),
    "of earlier versions": ("sd", pair(f"unet.{ATTENTION}.processor.to_out_lora", "down", "up", 64, 64)),
    "of kohya": ("sd", {**kohya(UNDERSCORED), **kohya(f"lora_te_text_model_{TEXT.replace('.', '_')}", 32, 32)}),
    "of Flux": ("flux", pair("transformer.transformer_blocks.0.attn.to_q", inputs=32, outputs=32)),
    "of Flux by kohya": (
        "flux",
        {
            **kohya("lora_unet_double_blocks_0_img_attn_qkv", 32, 96),
            **kohya("lora_te1_text_model_encoder_layers_1_mlp_fc1", 32, 48),
        },
    ),
    "of Flux for control": ("flux", pair("transformer.x_embedder", inputs=8, outputs=32)),
}
BAD: dict[str, tuple[str, Shapes, list[str]]] = {
    "another width": ("sd", pair(f"unet.{QUERY}", inputs=72), ["HF735"]),
    "halves of two ranks": ("sd", {**pair(f"unet.{QUERY}"), f"unet.{QUERY}.lora_B.weight": (64, 6)}, ["HF735"]),
    "half a pair": ("sd", {f"unet.{QUERY}.lora_A.weight": (4, 64)}, ["HF736"]),
    "a module that is not there": ("sd", {**pair(f"unet.{QUERY}"), **pair("unet.nothing")}, ["HF734"]),
    "a part that is not there": ("sd", pair(f"transformer.{QUERY}"), ["HF734"]),
    "no part": ("sd", pair(QUERY), ["HF734"]),
    "PEFT's prefix": ("sd", pair(f"base_model.model.{QUERY}"), ["HF734"]),
    "the original repo's prefix": ("sd", pair(f"diffusion_model.{QUERY}"), ["HF734"]),
    "the adapter's name": ("sd", pair(f"unet.{QUERY}", "lora_A.x", "lora_B.x"), ["HF737"]),
    "DoRA by kohya": ("sd", {**kohya(UNDERSCORED), f"{UNDERSCORED}.dora_scale": (64,)}, ["HF734"]),
    "nothing": ("sd", dict.fromkeys(pair(f"unet.{QUERY}"), (0,)), ["HF720"]),
    "a layer too many": ("flux", kohya("lora_unet_double_blocks_3_img_attn_proj", 32, 32), ["HF734"]),
    "sizes of Flux.1 alone": ("flux", kohya("lora_unet_single_blocks_0_linear1", 32, 32 * 7), ["HF735"]),
}


def verified(folder: Path, shapes: Shapes, kind: str | None) -> hfcount.Report:
    (folder / "lora").mkdir()
    file = folder / "lora" / "pytorch_lora_weights.safetensors"
    file.write_bytes(raw({name: ("F32", shape) for name, shape in shapes.items()}))
    return hfcount.verify(folder / "lora", base=None if kind is None else str(base(folder / "base", kind)))


@over("name", GOOD)
def test_a_lora_of_its_pipeline(tmp_path: Path, name: str) -> None:
    kind, shapes = GOOD[name]
    report = verified(tmp_path, shapes, kind)
    assert (report.verdict, report.loaders[0].loader, report.loaders[0].outcome) == ("verified", "diffusers", "whole")


@over("name", BAD)
def test_a_lora_that_does_not_fit(tmp_path: Path, name: str) -> None:
    kind, shapes, codes = BAD[name]
    report = verified(tmp_path, shapes, kind)
    assert [finding.code for finding in report.findings] == codes


def test_what_is_not_described_is_unverified(tmp_path: Path) -> None:
    report = verified(tmp_path, {"lora_unet_x.hada_w1_a": (4, 4)}, "sd")
    assert report.verdict == "unverified"


def test_a_lora_without_a_base(tmp_path: Path) -> None:
    report = verified(tmp_path, pair(f"unet.{QUERY}"), None)
    assert report.verdict == "unverified"
    assert report.error is not None
    assert "--base PIPELINE" in report.error.message


def test_a_part_alone_may_be_the_base(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "config.json").write_text(json.dumps(UNET))
    (tmp_path / "x.safetensors").write_bytes(raw({name: ("F32", s) for name, s in pair(f"unet.{QUERY}").items()}))
    assert hfcount.verify(tmp_path / "x.safetensors", base=str(tmp_path / "part")).verdict == "verified"


SINGLE: list[tuple[str, str]] = [
    ("emb_params", "a textual inversion"),
    ("model.diffusion_model.input_blocks.0.0.weight", "Stable Diffusion"),
    ("first_stage_model.encoder.conv_in.weight", "an autoencoder"),
    ("control_model.input_blocks.0.0.weight", "a ControlNet"),
]


@over("row", SINGLE)
def test_other_single_files_are_named(tmp_path: Path, row: tuple[str, str]) -> None:
    tensor, what = row
    (tmp_path / "file.safetensors").write_bytes(raw({tensor: ("F32", (2, 8))}))
    with pytest.raises(hfcount.FetchError, match=what):
        hfcount.verify(tmp_path)


def test_one_of_several_has_to_be_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        shapes = {tensor: ("F32", shape) for tensor, shape in pair(f"unet.{QUERY}").items()}
        (tmp_path / f"{name}.safetensors").write_bytes(raw(shapes))
    with pytest.raises(hfcount.FetchError, match="2 × a LoRA of a diffusion model"):
        hfcount.verify(tmp_path)
    assert hfcount.verify(tmp_path / "a.safetensors").verdict == "unverified"


def test_names_of_the_original_repo() -> None:
    assert diffusers_path("input_blocks_5_0_skip_connection", 2) == "down_blocks_1_resnets_1_conv_shortcut"
    assert diffusers_path("middle_block_1_proj_in", 2) == "mid_block_attentions_0_proj_in"
    assert diffusers_path("input_blocks_3_0_op", 2) == "down_blocks_0_downsamplers_0_conv"
    assert len(flux_paths("single_blocks_0_linear1")) == 4
    assert flux_paths("double_blocks_19_img_attn_proj") == ()
    assert JOINED_ROWS == 21_504


def test_modules_of_a_unet_are_those_that_it_stores() -> None:
    names = described(UNET)
    assert names[f"{QUERY}.weight"] == (64, 64)
    assert read_lora_names(pair(f"unet.{QUERY}")).naming == "diffusers"
