"""Models of diffusers: the files that it looks for, the names that it takes, and what it ignores."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import write_shard
from tables import over

import hfcount
from hfcount.errors import ConfigError, UnknownArchitecture

Json = dict[str, Any]
Tensors = dict[str, tuple[str, tuple[int, ...]]]

SINGLE = "diffusion_pytorch_model.safetensors"
INDEX = f"{SINGLE}.index.json"
CONFIG: Json = {
    "_class_name": "AutoencoderKL",
    "_diffusers_version": "0.42.1",
    "_name_or_path": "somewhere",
    "block_out_channels": [8, 16],
    "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D"],
    "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D"],
    "norm_num_groups": 4,
}
OLD = {"to_q": "query", "to_k": "key", "to_v": "value", "to_out.0": "proj_attn"}


def _tensors() -> Tensors:
    found = hfcount.blueprint({"model_type": "AutoencoderKL", **CONFIG}).tensors()
    return {one.name: ("F32", tuple(map(int, one.shape))) for one in found}


def _old(tensors: Tensors) -> Tensors:
    renamed = {}
    for name, one in tensors.items():
        for new, old in OLD.items():
            name = name.replace(f".{new}.", f".{old}.")
        renamed[name] = one
    return renamed


def _one(folder: Path, tensors: Tensors) -> None:
    write_shard(folder / SINGLE, tensors)


def _sharded(folder: Path, tensors: Tensors, index: bool = True) -> None:
    names, total, entries = list(tensors), 0, dict[str, str]()
    for number in (1, 2):
        file = f"diffusion_pytorch_model-{number:05}-of-00002.safetensors"
        part = {name: tensors[name] for name in names[number - 1 :: 2]}
        total += write_shard(folder / file, part)
        entries |= dict.fromkeys(part, file)
    if index:
        (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": entries}))


def _but_one(tensors: Tensors) -> Tensors:
    return dict(list(tensors.items())[1:])


def _stale(folder: Path, tensors: Tensors) -> None:
    _sharded(folder, _but_one(tensors))
    _one(folder, tensors)


def _current(folder: Path, tensors: Tensors) -> None:
    _sharded(folder, tensors)
    _one(folder, _but_one(tensors))


def _elsewhere(folder: Path, tensors: Tensors) -> None:
    write_shard(folder / "model.safetensors", tensors)


def _variant(folder: Path, tensors: Tensors) -> None:
    write_shard(folder / "diffusion_pytorch_model.fp16.safetensors", tensors)


BEYOND: Tensors = {"decoder.up_blocks.0.resnets.7.conv1.weight": ("F32", (3,))}

# How the files are written, and what is said of them: a verdict, and codes of findings.
WRITTEN: dict[str, tuple[Callable[[Path, Tensors], None], str, set[str]]] = {
    "one file": (_one, "verified", set()),
    "shards with an index": (_sharded, "verified", set()),
    "shards without one": (lambda folder, one: _sharded(folder, one, index=False), "mismatch", {"HF007"}),
    "a stale index beside one whole file": (_stale, "mismatch", {"HF201"}),
    "an index beside one file that lacks a tensor": (_current, "verified", set()),
    "the name of transformers": (_elsewhere, "unverified", set()),
    "a variant alone": (_variant, "unverified", set()),
    "old names of attention": (lambda folder, one: _one(folder, _old(one)), "explained", {"HF209"}),
    "old names in shards": (lambda folder, one: _sharded(folder, _old(one)), "mismatch", {"HF201"}),
    "a prefix": (lambda folder, one: _one(folder, {f"vae.{name}": it for name, it in one.items()}), "mismatch", set()),
    "a tensor more": (lambda folder, one: _one(folder, one | {"a.b": ("F32", (2,))}), "explained", {"HF202"}),
    "a tensor of a layer more": (lambda folder, one: _one(folder, one | BEYOND), "mismatch", {"HF202"}),
    "a tensor less": (lambda folder, one: _one(folder, _but_one(one)), "mismatch", {"HF201"}),
    "nothing": (lambda folder, one: None, "unverified", set()),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("write", "verdict", "codes"), WRITTEN.values(), ids=WRITTEN)
def test_files_are_those_that_diffusers_looks_for(
    write: Callable[[Path, Tensors], None], verdict: str, codes: set[str], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    write(tmp_path, _tensors())
    report = hfcount.verify(str(tmp_path))
    assert (report.verdict, report.family) == (verdict, "AutoencoderKL")
    assert codes <= {one.code for one in report.findings}


def test_absent_keys_are_the_class_s_and_no_finding_says_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "another_size": 7}))
    _one(tmp_path, _tensors())
    report = hfcount.verify(str(tmp_path))
    assert [one.code for one in report.findings] == ["HF102"]
    assert report.verdict == "verified"


# What diffusers refuses, and the key that is named.
REFUSED: list[tuple[str, Json, str]] = [
    ("AutoencoderKL", {"norm_num_groups": 3}, "block_out_channels"),
    ("AutoencoderKL", {"down_block_types": ["Other"]}, "down_block_types"),
    ("AutoencoderKL", {"block_out_channels": [64], "up_block_types": ["UpDecoderBlock2D"] * 2}, "up_block_types"),
    ("UNet2DConditionModel", {"num_attention_heads": 8}, "num_attention_heads"),
    ("UNet2DConditionModel", {"block_out_channels": [320, 640]}, "down_block_types"),
    ("UNet2DConditionModel", {"attention_head_dim": 2048}, "attention_head_dim"),
    ("UNet2DConditionModel", {"class_embed_type": "projection"}, "projection_class_embeddings_input_dim"),
    ("UNet2DConditionModel", {"encoder_hid_dim_type": "text_proj"}, "encoder_hid_dim"),
    ("UNet2DConditionModel", {"time_embedding_type": "learned"}, "time_embedding_type"),
    ("UNet2DConditionModel", {"transformer_layers_per_block": [1, [2], 1, 1]}, "reverse_transformer_layers_per_block"),
    ("UNet2DConditionModel", {"act_fn": "tanh"}, "act_fn"),
    ("UNet2DConditionModel", {"norm_num_groups": None}, "norm_num_groups"),
    ("UNet2DModel", {"time_embedding_type": "other"}, "time_embedding_type"),
    ("UNetSpatioTemporalConditionModel", {"block_out_channels": [40, 80, 120, 160]}, "block_out_channels"),
    ("UNet3DConditionModel", {"attention_head_dim": [64] * 4}, "attention_head_dim"),
    ("UNet3DConditionModel", {"down_block_types": ["DownBlock2D"] * 4}, "down_block_types"),
    ("MotionAdapter", {"motion_transformer_layers_per_block": [[1, 1]] * 4}, "motion_transformer_layers_per_block"),
    ("MotionAdapter", {"motion_num_attention_heads": 3, "block_out_channels": [35]}, "block_out_channels"),
    ("ControlNetUnionModel", {"encoder_hid_dim_type": "text_proj"}, "encoder_hid_dim_type"),
    ("VQModel", {"norm_type": "spatial", "block_out_channels": [48], "norm_num_groups": 8}, "block_out_channels"),
    ("ControlNetModel", {"mid_block_type": None}, "mid_block_type"),
    ("SD3Transformer2DModel", {"qk_norm": "other"}, "qk_norm"),
    ("BriaTransformer2DModel", {"guidance_embeds": True}, "guidance_embeds"),
    ("LuminaNextDiT2DModel", {}, "num_kv_heads"),
    ("PRXTransformer2DModel", {"axes_dim": [32, 30]}, "axes_dim"),
    ("ErnieImageTransformer2DModel", {"qk_layernorm": False}, "qk_layernorm"),
    ("HunyuanImageTransformer2DModel", {"patch_size": [1]}, "patch_size"),
    ("UVit2DModel", {"block_out_channels": 8}, "block_num_heads"),
    ("WanAnimateTransformer3DModel", {"in_channels": 16}, "in_channels"),
    ("AutoencoderKLMochi", {"decoder_block_out_channels": [128, 250, 512, 768]}, "decoder_block_out_channels"),
    ("AutoencoderKLHunyuanVideo15", {"block_out_channels": [128, 256]}, "block_out_channels"),
    ("AutoencoderKLLTX2Audio", {"norm_type": "group"}, "causality_axis"),
    ("LTX2LatentUpsamplerModel", {"rational_spatial_scale": 3.0}, "rational_spatial_scale"),
    ("LTX2Vocoder", {"upsample_factors": [6, 5, 2, 2]}, "upsample_factors"),
    ("SD3Transformer2DModel", {"attention_head_dim": 63, "num_attention_heads": 1}, "attention_head_dim"),
    ("SD3Transformer2DModel", {"sample_size": 1}, "sample_size"),
]


@over(("kind", "changes", "key"), REFUSED, [f"{kind}-{key}" for kind, _, key in REFUSED])
def test_what_diffusers_refuses_names_the_key(kind: str, changes: Json, key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        hfcount.blueprint({"_class_name": kind, **changes})
    assert raised.value.key == key


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("UNet2DConditionModel", {"down_block_types": ["DownEncoderBlock2D"] * 4}),
        ("UNet2DModel", {"up_block_types": ["CrossAttnUpBlock2D"] * 4}),
        ("Kandinsky3UNet", {}),
        ("LTX2Vocoder", {"antialias": True}),
    ],
)
def test_what_is_not_described_is_said(kind: str, changes: Json) -> None:
    with pytest.raises(UnknownArchitecture, match=r"described|derive-with diffusers"):
        hfcount.blueprint({"model_type": kind, **changes})


def test_the_class_stands_for_a_model_type() -> None:
    named, typed = ({key: "AutoencoderKL"} | {"latent_channels": 5} for key in ("_class_name", "model_type"))
    assert hfcount.blueprint(named).rows() == hfcount.blueprint(typed).rows()
    assert hfcount.blueprint(named).spec.family == "AutoencoderKL"


_WAN = {"_class_name": "WanModel", "_diffusers_version": "0.30.0", "dim": 24, "num_heads": 2, "num_layers": 1}


def test_a_class_may_have_a_model_type_among_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**_WAN, "model_type": "flf2v"}))
    report, without = hfcount.verify(tmp_path, depth="config"), hfcount.blueprint(_WAN)
    assert report.parameters is not None
    assert report.parameters.total == hfcount.blueprint({**_WAN, "model_type": "flf2v"}).total > without.total
    assert not report.findings
    with pytest.raises(UnknownArchitecture, match="nothing in the config tells which"):
        hfcount.blueprint({**_WAN, "model_type": "i2v"})


def test_a_patch_with_too_few_sides_renames_nothing() -> None:
    blueprint = hfcount.blueprint({"model_type": "SanaVideoTransformer3DModel", "patch_size": [1, 2]})
    assert blueprint.problems
    assert "patch_embedding.weight" in {one.name for one in blueprint.tensors()}


@pytest.mark.parametrize(
    ("norm", "name"), [("ada_norm_zero", "DiTTransformer2DModel"), ("ada_norm_single", "PixArtTransformer2DModel")]
)
def test_a_class_of_earlier_versions_is_read_as_diffusers_loads_it(norm: str, name: str) -> None:
    values = {"_class_name": "Transformer2DModel", "norm_type": norm, "num_layers": 2, "num_attention_heads": 4}
    values |= {"attention_head_dim": 8, "in_channels": 4, "cross_attention_dim": None, "caption_channels": None}
    earlier = hfcount.blueprint(values)
    assert earlier.spec.family == name
    assert earlier.rows() == hfcount.blueprint({**values, "_class_name": name}).rows()
    with pytest.raises(UnknownArchitecture, match="Transformer2DModel, a class of diffusers"):
        hfcount.blueprint({**values, "norm_type": "layer_norm"})
