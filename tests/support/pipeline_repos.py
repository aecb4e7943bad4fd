"""Small pipelines of diffusers, as folders, and what can be wrong with them."""

import json
import struct
from collections.abc import Callable, Mapping
from copy import deepcopy
from math import prod
from pathlib import Path
from typing import Any

from loopback import WIDTHS
from pickled import archive, items, state, zeros

from hfcount.blueprints.build import build
from hfcount.blueprints.libraries import diffusers
from hfcount.mapper import Config

Json = dict[str, Any]
Edit = Callable[[Json], None]

INDEX, CONFIG = "model_index.json", "config.json"
ENCODER = {
    "architectures": ["CLIPTextModel"],
    "model_type": "clip_text_model",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "max_position_embeddings": 20,
    "vocab_size": 60,
    "projection_dim": 24,
    "dtype": "float32",
}
VAE = {
    "_class_name": "AutoencoderKL",
    "block_out_channels": [32, 64],
    "down_block_types": ["DownEncoderBlock2D", "DownEncoderBlock2D"],
    "up_block_types": ["UpDecoderBlock2D", "UpDecoderBlock2D"],
    "latent_channels": 4,
    "norm_num_groups": 8,
    "shift_factor": None,
    "in_channels": 3,
    "out_channels": 3,
    "layers_per_block": 1,
    "mid_block_add_attention": True,
    "use_quant_conv": True,
    "use_post_quant_conv": True,
}
UNET = {
    "_class_name": "UNet2DConditionModel",
    "block_out_channels": [32, 64],
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"],
    "cross_attention_dim": 32,
    "layers_per_block": 1,
    "norm_num_groups": 8,
    "mid_block_type": "UNetMidBlock2DCrossAttn",
    "attention_head_dim": 8,
    "only_cross_attention": False,
    "transformer_layers_per_block": 1,
    "in_channels": 4,
    "out_channels": 4,
    "conv_in_kernel": 3,
    "conv_out_kernel": 3,
}
STABLE: Json = {
    INDEX: {
        "_class_name": "StableDiffusionPipeline",
        "_diffusers_version": "0.42.1",
        "feature_extractor": [None, None],
        "requires_safety_checker": False,
        "safety_checker": [None, None],
        "scheduler": ["diffusers", "EulerDiscreteScheduler"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    },
    "scheduler/scheduler_config.json": {"_class_name": "EulerDiscreteScheduler"},
    "tokenizer/tokenizer_config.json": {"model_max_length": 20},
    "tokenizer/vocab.json": {"a": 0, "b": 1},
    "tokenizer/merges.txt": "#version: 0.2",
    "text_encoder/config.json": ENCODER,
    "unet/config.json": UNET,
    "vae/config.json": VAE,
}
"""The documents of a pipeline, by path; a text is one as it stands."""

WEIGHTS = {
    "text_encoder": "text_encoder/model.safetensors",
    "unet": "unet/diffusion_pytorch_model.safetensors",
    "vae": "vae/diffusion_pytorch_model.safetensors",
}


def described(config: Json) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors that a config describes, by name."""
    made = build(Config(diffusers.config(config, CONFIG) if "_class_name" in config else config))
    return {one.name: one.shape for one in made.tensors() if one.kind == "parameter"}


def safetensors(shapes: Mapping[str, tuple[int, ...]], dtype: str = "F32") -> bytes:
    """A file of zeros."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = prod(shape) * WIDTHS[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)


def pickled(shapes: Mapping[str, tuple[int, ...]]) -> bytes:
    """The same as torch.save writes it."""
    tensors = {name: ("F32", shape) for name, shape in shapes.items()}
    return archive(state(**items(tensors)), zeros(tensors))


def pipeline(
    folder: Path,
    *edits: Edit,
    gone: tuple[str, ...] = (),
    files: Mapping[str, bytes] | None = None,
    renamed: Mapping[str, str] | None = None,
    after: Edit = lambda documents: None,
) -> Path:
    """Writes a pipeline.

    Args:
        edits: of the documents, before the weights are made of them; `after`: the same, once they are made.
        gone: paths of files that are left out; files: further ones; renamed: new paths of weight files.
    """
    documents = deepcopy(STABLE)
    for edit in edits:
        edit(documents)
    weights = {
        path: safetensors(described(documents[f"{part}/config.json"]))
        for part, path in WEIGHTS.items()
        if f"{part}/config.json" in documents
    }
    after(documents)
    whole = {path: (one if isinstance(one, str) else json.dumps(one)).encode() for path, one in documents.items()}
    whole |= {(renamed or {}).get(path, path): raw for path, raw in weights.items()}
    for path, raw in {**whole, **(files or {})}.items():
        if path not in gone:
            place = folder / path
            if path.endswith("/"):
                place.mkdir(parents=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(raw)
    return folder


def says(path: str, **values: Any) -> Edit:
    """An edit of one document."""

    def edit(documents: Json) -> None:
        documents[path] = {**documents[path], **values}

    return edit
