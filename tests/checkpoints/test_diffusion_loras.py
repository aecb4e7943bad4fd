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
WAN: Json = {
    "_class_name": "WanTransformer3DModel",
    "num_attention_heads": 2,
    "attention_head_dim": 12,
    "text_dim": 32,
    "ffn_dim": 40,
    "num_layers": 2,
}
PIPELINES: dict[str, tuple[str, dict[str, tuple[str, Json]]]] = {
    "sd": (
        "StableDiffusionPipeline",
        {"unet": ("diffusers", UNET), "text_encoder": ("transformers", CLIP)},
    ),
    "wan": ("WanPipeline", {"transformer": ("diffusers", WAN)}),
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


def of_wan(*blocks: int) -> dict[str, tuple[int, ...]]:
    """All modules of blocks of Wan, by kohya's names."""
    shapes: dict[str, tuple[int, ...]] = {}
    for block in blocks:
        for name in ("self_attn_q", "self_attn_k", "self_attn_v", "self_attn_o"):
            shapes |= kohya(f"lora_unet_blocks_{block}_{name}", 24, 24)
            shapes |= kohya(f"lora_unet_blocks_{block}_{name.replace('self', 'cross')}", 24, 24)
        shapes |= {
            **kohya(f"lora_unet_blocks_{block}_ffn_0", 24, 40),
            **kohya(f"lora_unet_blocks_{block}_ffn_2", 40, 24),
        }
    return shapes


ORIGINAL = "diffusion_model.blocks.0"
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
    "of Wan by the original repo": (
        "wan",
        {
            **pair(f"{ORIGINAL}.self_attn.q", inputs=24, outputs=24),
            **kohya(f"{ORIGINAL}.ffn.0", 24, 40),
            **pair("diffusion_model.text_embedding.0", inputs=32, outputs=24),
        },
    ),
    "of Wan by kohya": ("wan", of_wan(0, 1)),
    "of the first blocks of Wan by kohya": ("wan", of_wan(0)),
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
    "no part of Flux": ("flux", pair("transformer_blocks.0.attn.to_q", inputs=32, outputs=32), ["HF734"]),
    "Flux by the original repo": ("flux", pair("diffusion_model.double_blocks.0.img_attn.proj", inputs=32), ["HF734"]),
    "Flux with PEFT's prefix": ("flux", pair("base_model.model.transformer_blocks.0.attn.to_q"), ["HF734"]),
    "one map of images of Wan": ("wan", pair(f"{ORIGINAL}.cross_attn.k_img", inputs=24, outputs=24), ["HF734"]),
    "no block of Wan": ("wan", pair("diffusion_model.head.head", inputs=24, outputs=64), ["HF734"]),
    "a scale outside of the blocks of Wan": (
        "wan",
        {**pair(f"{ORIGINAL}.ffn.0", inputs=24, outputs=40), **kohya("diffusion_model.time_embedding.2", 24, 24)},
        ["HF734"],
    ),
    "a block of Wan too many": ("wan", of_wan(0, 1, 2), ["HF734"]),
    "not the first block of Wan": ("wan", of_wan(1), ["HF734", "HF736"]),
    "some modules of Wan": ("wan", kohya("lora_unet_blocks_0_self_attn_q", 24, 24), ["HF736"]),
    "no scales of Wan": ("wan", {n: s for n, s in of_wan(0).items() if not n.endswith("alpha")}, ["HF736"]),
    "modules of Wan by diffusers' names": ("wan", kohya("lora_unet_blocks_0_attn1_to_q", 24, 24), ["HF734", "HF736"]),
    "weights of a model": ("sd", {f"{QUERY}.weight": (64, 64)}, ["HF738"]),
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


def test_the_first_name_that_diffusers_gives_works_for_the_first_alone(tmp_path: Path) -> None:
    report = verified(tmp_path, pair(f"unet.{QUERY}", "lora_A.default_0", "lora_B.default_0"), "sd")
    assert (report.verdict, [finding.code for finding in report.findings]) == ("mismatch", ["HF737"])
    assert "unless it is the first one loaded and gets no name" in report.findings[0].message


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
