"""Writes GGUF files for tests: sound ones, and ones that break a rule of the format."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

from hfcount.formats.gguf.header import GgufHeader, read_gguf
from hfcount.formats.gguf.types import TYPES

NUMBERS = {kind.name: number for number, kind in TYPES.items()}

CONFIG: dict[str, Any] = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 24,
    "tie_word_embeddings": False,
}
"""The config of the model that `model` gives."""

LORA: dict[str, Any] = {
    "general.architecture": "qwen3",
    "general.type": "adapter",
    "adapter.type": "lora",
    "adapter.lora.alpha": 16.0,
}
"""The metadata of a LoRA for that model."""

Pairs = Mapping[str, Any]
Row = tuple[str, tuple[int, ...], int, int]
"""Name, shape with the slowest extent first, number of the type, offset."""


@dataclass
class Source:
    """Bytes that are read by ranges, and the ranges that were asked for; of data only the size is kept."""

    head: bytes
    size: int
    asked: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, start: int, stop: int) -> bytes:
        self.asked.append((start, stop))
        stop = min(stop, self.size)
        return self.head[start:stop] + bytes(max(0, stop - max(start, len(self.head))))

    def read(self, name: str = "model.gguf") -> GgufHeader:
        return read_gguf(name, self.size, self)


def text(value: str | bytes) -> bytes:
    raw: bytes = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def value(item: Any) -> bytes:
    """A value of metadata with its type; a tuple (type, bytes) is written as it is."""
    if isinstance(item, tuple):
        return struct.pack("<I", item[0]) + bytes(item[1])
    if isinstance(item, bool):
        return struct.pack("<I?", 7, item)
    if isinstance(item, int):
        return struct.pack("<Iq", 11, item) if item < 0 else struct.pack("<II", 4, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    if isinstance(item, str):
        return struct.pack("<I", 8) + text(item)
    kind = value(item[0])[:4]
    return struct.pack("<I", 9) + kind + struct.pack("<Q", len(item)) + b"".join(value(one)[4:] for one in item)


def row(name: str, shape: Sequence[int], kind: int, offset: int) -> bytes:
    extents = struct.pack(f"<{len(shape)}Q", *reversed(shape))
    return text(name) + struct.pack("<I", len(shape)) + extents + struct.pack("<IQ", kind, offset)


def padded(place: int, alignment: int = 32) -> int:
    return -(-place // alignment) * alignment


def laid_out(
    shapes: Mapping[str, tuple[int, ...]], kinds: Mapping[str, str] = MappingProxyType({}), alignment: int = 32
) -> list[Row]:
    """Rows one behind the other; F32 unless a type is given."""
    rows, place = [], 0
    for name, shape in shapes.items():
        kind = NUMBERS[kinds.get(name, "F32")]
        rows.append((name, shape, kind, place))
        place = padded(place + prod(shape) // TYPES[kind].block * TYPES[kind].bytes, alignment)
    return rows


def source(pairs: Pairs, rows: Sequence[Row], version: int = 3, more: int = 0, alignment: int = 32) -> Source:
    """A file of these pairs and rows; `more` bytes are added at its end, or taken from it."""
    head = struct.pack("<4sIQQ", b"GGUF", version, len(rows), len(pairs))
    head += b"".join(text(key) + value(item) for key, item in pairs.items())
    head += b"".join(row(*item) for item in rows)
    head += bytes(-len(head) % alignment)
    end = 0
    if rows:
        _, shape, kind, offset = rows[-1]
        end = offset + (prod(shape) // TYPES[kind].block * TYPES[kind].bytes if kind in TYPES else 0)
    return Source(head, len(head) + padded(end, alignment) + more)


def model(layers: int = 2, **changed: Any) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """Metadata and shapes of a small model of architecture qwen3."""
    pairs: dict[str, Any] = {
        "general.architecture": "qwen3",
        "general.type": "model",
        "qwen3.block_count": layers,
        "qwen3.context_length": 40960,
        "qwen3.embedding_length": 64,
        "qwen3.feed_forward_length": 96,
        "qwen3.attention.head_count": 4,
        "qwen3.attention.head_count_kv": 2,
        "qwen3.attention.key_length": 24,
        "qwen3.attention.value_length": 24,
        "qwen3.attention.layer_norm_rms_epsilon": 1e-6,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [f"t{number}" for number in range(100)],
    }
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (100, 64)}
    for layer in range(layers):
        shapes |= {
            f"blk.{layer}.{name}.weight": shape
            for name, shape in (
                ("attn_norm", (64,)),
                ("attn_q", (96, 64)),
                ("attn_k", (48, 64)),
                ("attn_v", (48, 64)),
                ("attn_output", (64, 96)),
                ("attn_q_norm", (24,)),
                ("attn_k_norm", (24,)),
                ("ffn_norm", (64,)),
                ("ffn_gate", (96, 64)),
                ("ffn_up", (96, 64)),
                ("ffn_down", (64, 96)),
            )
        }
    return pairs | changed, shapes | {"output_norm.weight": (64,), "output.weight": (100, 64)}


def whole(pairs: Pairs, shapes: Mapping[str, tuple[int, ...]], **changed: Any) -> bytes:
    """All bytes of a file of these pairs and tensors; the data is zeros."""
    file = source(pairs, laid_out(shapes), **changed)
    return file(0, file.size)


def split(count: int = 3) -> dict[str, bytes]:
    """The files of a split set."""
    pairs, shapes = model()
    names, files = list(shapes), {}
    step = -(-len(names) // count)
    for number in range(count):
        own = {name: shapes[name] for name in names[number * step : (number + 1) * step]}
        facts = {"split.no": number, "split.count": count, "split.tensors.count": len(names)}
        first = {**pairs, **facts} if number == 0 else facts
        files[f"m-{number + 1:05}-of-{count:05}.gguf"] = whole(first, own)
    return files


def projector(width: int = 64, **changed: Any) -> bytes:
    """A projector whose rows have that width; `changed` are pairs of its metadata."""
    pairs = {
        "general.architecture": "clip",
        "general.type": "mmproj",
        "clip.has_vision_encoder": True,
        "clip.projector_type": "gemma3",
        "clip.vision.projection_dim": width,
        "clip.vision.embedding_length": 8,
        "clip.vision.attention.head_count": 2,
        "clip.vision.feed_forward_length": 16,
        "clip.vision.block_count": 0,
        "clip.vision.attention.layer_norm_epsilon": 1e-6,
        "clip.vision.image_size": 28,
        "clip.vision.patch_size": 14,
        "clip.vision.image_mean": [0.5, 0.5, 0.5],
        "clip.vision.image_std": [0.5, 0.5, 0.5],
        **changed,
    }
    return whole(pairs, {"mm.0.weight": (width, 8)})


BERT: dict[str, Any] = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 96,
    "max_position_embeddings": 66,
    "type_vocab_size": 2,
}
_MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output")
_LAYER_OF_BERT: Mapping[str, tuple[int, ...]] = {
    **{f"{name}.{end}": (32, 32)[: 2 if end == "weight" else 1] for name in _MATRICES for end in ("weight", "bias")},
    **{f"{name}.{end}": (32,) for name in ("attn_output_norm", "layer_output_norm") for end in ("weight", "bias")},
    "ffn_up.weight": (48, 32),
    "ffn_up.bias": (48,),
    "ffn_down.weight": (32, 48),
    "ffn_down.bias": (32,),
}


def bert(positions: int) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """Metadata and shapes of what the converter makes of BERT, with so many rows of positions."""
    shapes = {
        "token_embd.weight": (96, 32),
        "position_embd.weight": (positions, 32),
        "token_types.weight": (2, 32),
        **{f"token_embd_norm.{end}": (32,) for end in ("weight", "bias")},
        **{f"blk.{layer}.{name}": shape for layer in (0, 1) for name, shape in _LAYER_OF_BERT.items()},
    }
    return {"general.architecture": "bert", "bert.block_count": 2}, shapes
