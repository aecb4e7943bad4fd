"""Tensors of zeros: what a library began with, what layers that were added begin with, and what was lost."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from build import TINY, shard
from defects import adapter
from packed import PACKED, unfolded
from packed import write as write_packed
from paths import ARCHITECTURES
from tables import over
from valued import constant, filled, header, put, steps

import hfcount
from hfcount.checkpoints.data.centred_norms import CentredNorms
from hfcount.spec.tree.leaves import Finder

Spoil = Callable[[Path], None]

ONE = 0x3F80  # in BF16
ATTENTION, MLP = "model.layers.1.self_attn.o_proj.weight", "model.layers.1.mlp.down_proj.weight"


SMALLER: dict[str, Any] = {"gpt_oss": {"vocab_size": 60, "intermediate_size": 24, "num_local_experts": 4}}
RESNET = {"model_type": "resnet", "architectures": ["ResNetModel"], "embedding_size": 8, "layer_type": "basic"}
RESNET |= {"hidden_sizes": [8, 16], "depths": [1, 1], "dtype": "bfloat16"}


def _config(name: str) -> dict[str, Any]:
    if name in TINY:
        return dict(TINY[name])
    config: dict[str, Any] = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    if name[0].isupper():  # of diffusers
        config["_class_name"] = config.pop("model_type")
    smaller: dict[str, Any] = SMALLER.get(name, {})
    return config | smaller


def _model(folder: Path, config: dict[str, Any]) -> Path:
    """A model whose values are all random."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    kinds = ("parameter", "buffer") if config.get("model_type") == "resnet" else ("parameter",)
    shapes = {one.name: one.shape for one in hfcount.blueprint(config).tensors() if one.kind in kinds}
    file = folder / ("diffusion_pytorch_model.safetensors" if "_class_name" in config else "model.safetensors")
    file.write_bytes(shard(shapes))
    filled(file, 1)
    return folder


def _where(holds: Callable[[str], bool], code: int = 0, most: int = 9) -> Spoil:
    """Gives all tensors of such names, and of at most so many extents, one value."""

    def spoil(folder: Path) -> None:
        tensors = {name: one for file in folder.glob("*.safetensors") for name, one in header(file)[0].items()}
        names = [name for name, one in tensors.items() if holds(name) and len(one["shape"]) <= most]
        assert names
        steps(*(constant(name, code) for name in names))(folder)

    return spoil


def _norms(name: str) -> bool:
    return "norm" in name and name.endswith("weight")


FRESH = _where(_norms, ONE, 1)
"""All norms as they began."""


@dataclass(frozen=True)
class Row:
    """A model, what becomes of it, and the severity of HF903; empty if there is none."""

    model: str
    spoil: Spoil
    severity: str = ""
    says: str = ""


def _zeros(*names: str) -> Spoil:
    return steps(*map(constant, names))


CONVOLUTIONS = _where(lambda name: name.startswith("controlnet_blocks"))
ROWS = {
    "one part of a fresh model": Row("SD3ControlNetModel", steps(FRESH, _zeros("pos_embed_input.proj.weight"))),
    "the same of a trained one": Row("SD3ControlNetModel", _zeros("pos_embed_input.proj.weight"), "error"),
    "an embedding of a fresh model": Row("llama", steps(FRESH, _zeros("model.embed_tokens.weight")), "error"),
    "a head of a fresh model": Row("llama", steps(FRESH, _zeros("lm_head.weight")), "error"),
    "one layer of a fresh model": Row("llama", steps(FRESH, _zeros(ATTENTION)), "error"),
    "branches that are new in a trained model": Row("SD3ControlNetModel", CONVOLUTIONS, "note", "adds nothing"),
    "branches whose biases were trained": Row(
        "SD3ControlNetModel", _where(lambda name: "controlnet_blocks" in name and name.endswith("weight")), "error"
    ),
    "a layer that was added": Row("llama", _zeros(ATTENTION, MLP), "note", "1 more tensor. The layer around them adds"),
    "half of such a layer": Row("llama", _zeros(MLP), "error"),
    "a layer of which more was lost": Row(
        "llama", _zeros(ATTENTION, MLP, ATTENTION.replace("o_proj", "q_proj")), "error"
    ),
    "all layers": Row("llama", _where(lambda name: name.endswith(("o_proj.weight", "down_proj.weight"))), "error"),
    "a module with its norm": Row(
        "SD3ControlNetModel", _where(lambda name: name.startswith("transformer_blocks.0.")), "error"
    ),
    "biases of experts": Row("gpt_oss", _where(lambda name: name.endswith("proj_bias"))),
    "a model without norms": Row("AudioLDM2ProjectionModel", _zeros("learnable_positional_embedding")),
    "a matrix of a model without norms": Row("AudioLDM2ProjectionModel", _zeros("projection.weight"), "error"),
}  # fmt: skip


@over("name", ROWS)
def test_zeros_are_judged_by_what_is_around_them(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    folder = _model(tmp_path / f"m{[*ROWS].index(name)}", _config(row.model))
    row.spoil(folder)
    found = [one for one in hfcount.verify(folder, depth="data").findings if one.code >= "HF9"]
    assert [(one.code, one.severity) for one in found] == ([("HF903", row.severity)] if row.severity else [])
    assert not found or row.says in found[0].message


def test_a_decoder_that_is_new_beside_a_backbone_begins_with_zeros(tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", _config("llama"))
    config = json.loads((folder / "config.json").read_text())
    zero = _where(lambda name: name.endswith("q_proj.weight"))
    assert config["num_hidden_layers"] > 1
    zero(folder)
    _where(lambda name: _norms(name) and "layers" in name, ONE)(folder)  # and not the one behind all layers
    assert hfcount.verify(folder, depth="data").verdict == "verified"


VARIANCE, MEAN = (f"embedder.embedder.normalization.running_{name}" for name in ("var", "mean"))


@pytest.mark.parametrize(("spoil", "codes"), [
    (constant(VARIANCE, ONE), []),
    (constant(MEAN), []),
    (constant(VARIANCE), ["HF903"]),
    (put(VARIANCE, 3, 0x7F80), ["HF902"]),
    (put(MEAN, 3, 0xFF80), ["HF902"]),
    (put(MEAN, 3, 0x7FC0), ["HF901"]),
])  # fmt: skip
def test_statistics_of_batch_norms_are_what_is_divided_by(spoil: Spoil, codes: list[str], tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", RESNET)
    spoil(folder)
    assert [one.code for one in hfcount.verify(folder, depth="data").findings if one.code >= "HF9"] == codes


FIRST, SECOND = "lora_A", "lora_B"


def _lora(name: str) -> Spoil:
    return _where(lambda one: name in one)


@pytest.mark.parametrize(("spoil", "count"), [
    (_lora(SECOND), 0),
    (_lora(FIRST), 0),
    (_lora("lora_"), "all"),
    (lambda folder: constant(_first(folder))(folder), 1),
    (lambda folder: constant(_first(folder).replace(FIRST, SECOND))(folder), 0),
])  # fmt: skip
def test_of_two_matrices_of_an_adapter_one_is_not_zero(spoil: Spoil, count: Any, tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "adapter")
    filled(folder / "adapter_model.safetensors", 3)
    spoil(folder)
    found = [one for one in hfcount.verify(folder, depth="data").findings if one.code == "HF903"]
    many = len([name for name in header(folder / "adapter_model.safetensors")[0] if "lora_" in name])
    assert sum(one.count for one in found) == (many if count == "all" else count)


def _first(folder: Path) -> str:
    return next(name for name in header(folder / "adapter_model.safetensors")[0] if FIRST in name)


SMALLEST = "AutoRound MXFP4"


@pytest.mark.parametrize(("name", "suffix", "code", "says"), [
    (SMALLEST, "weight_scale", 0, "are 2^-127, which is stored as zero"),
    (SMALLEST, "weight_packed", 0, ""),
    ("FP8 of stacks of experts", "down_proj_scale_inv", 0, "are zero"),
])  # fmt: skip
def test_scales_of_packed_weights_are_judged_once(name: str, suffix: str, code: int, says: str, tmp_path: Path) -> None:
    case = PACKED[name]
    tensors = unfolded(case["tensors"])
    write_packed(tmp_path / "m", case, tensors)
    for number, file in enumerate(sorted((tmp_path / "m").glob("*.safetensors"))):
        filled(file, number)
    sound = hfcount.verify(tmp_path / "m", depth="data")
    assert "HF9" not in str([one.code for one in sound.findings])
    constant(next(one for one in tensors if one.endswith(suffix)), code)(tmp_path / "m")
    (finding,) = (one for one in hfcount.verify(tmp_path / "m", depth="data").findings if one.severity == "error")
    assert finding.code == ("HF905" if says else "HF903")
    assert says in finding.message


CENTRED: list[tuple[str, str, bool]] = [
    ("gemma2", "model.layers.1.input_layernorm.weight", True),
    ("gemma4_text", "model.layers.1.input_layernorm.weight", False),
    ("llama", "model.layers.1.input_layernorm.weight", False),
    ("qwen3_5_text", "model.layers.1.input_layernorm.weight", True),
    ("qwen3_5_text", "model.layers.1.linear_attn.norm.weight", False),
    ("minimax_m3_vl_text", "model.layers.1.input_layernorm.weight", True),
    ("paligemma", "language_model.model.layers.1.input_layernorm.weight", True),
    ("paligemma", "vision_tower.encoder.layers.1.layer_norm1.weight", False),
    ("muse_spark", "language_model.layers.1.input_layernorm.weight", True),
    ("muse_spark", "audio_tower.layers.1.conv_blocks.1.norm.weight", False),
    ("muse_glimmer", "vision_tower.layers.1.norm1.weight", False),
]


@pytest.mark.parametrize(("kind", "norm", "expected"), CENTRED, ids=[" ".join(row[:2]) for row in CENTRED])
def test_norms_begin_with_zeros_where_their_class_adds_one(kind: str, norm: str, expected: bool) -> None:
    blueprint = hfcount.blueprint(_config(kind))
    leaf = Finder(blueprint.leaves).find(norm)
    assert leaf is not None
    assert CentredNorms(blueprint.spec).has(leaf) is expected


@pytest.mark.parametrize(
    ("norm", "codes"),
    [
        ("language_model.model.layers.1.input_layernorm.weight", []),
        ("vision_tower.encoder.layers.1.layer_norm1.weight", ["HF903"]),
    ],
)
def test_norms_of_zeros_are_judged_by_the_part_they_are_in(norm: str, codes: list[str], tmp_path: Path) -> None:
    folder = _model(tmp_path / "m", _config("paligemma"))
    constant(norm)(folder)
    assert [one.code for one in hfcount.verify(folder, depth="data").findings] == codes
