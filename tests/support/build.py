"""Small checkpoints: a tiny config of each family, the index that belongs to it, and folders that hold both."""

import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

from paths import ARCHITECTURES

import hfcount

Json = dict[str, Any]

COMMIT = "0123456789abcdef0123456789abcdef01234567"

_FRAME: Json = {
    "dtype": "bfloat16",
    "vocab_size": 50,
    "hidden_size": 12,
    "intermediate_size": 20,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
}

# No two sizes are alike, so that no test passes with one in place of another.
TINY: Mapping[str, Json] = {
    "llama": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **_FRAME},
    "mistral": {"architectures": ["MistralForCausalLM"], "model_type": "mistral", **_FRAME},
    "mixtral": {
        "architectures": ["MixtralForCausalLM"],
        "model_type": "mixtral",
        **_FRAME,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
    },
    "qwen2": {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", **_FRAME},
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", **_FRAME, "head_dim": 6},
    "qwen3_moe": {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        **_FRAME,
        "head_dim": 6,
        "moe_intermediate_size": 10,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
    },
}

FAMILIES = tuple(TINY)


def unread(rows: Iterable[Any]) -> list[Any]:
    """What a report lists as not looked at, less the tokenizer that no small checkpoint has."""
    return [row for row in rows if (row["kind"] if isinstance(row, dict) else row.kind) != "no tokenizer"]


# With buffers, and layers that predict further tokens.
DEEPSEEK: Json = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "torch_dtype": "bfloat16",
    "vocab_size": 40,
    "hidden_size": 16,
    "intermediate_size": 24,
    "moe_intermediate_size": 8,
    "num_hidden_layers": 3,
    "first_k_dense_replace": 1,
    "num_attention_heads": 2,
    "q_lora_rank": 6,
    "kv_lora_rank": 4,
    "qk_nope_head_dim": 4,
    "qk_rope_head_dim": 2,
    "v_head_dim": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "num_nextn_predict_layers": 1,
    "tie_word_embeddings": False,
}


def config(family: str, *without: str, **changes: Any) -> Json:
    """The family's tiny config, less the keys `without` and with `changes`."""
    return {key: value for key, value in TINY[family].items() if key not in without} | changes


def named(family: str, head: str) -> list[str]:
    """The `architectures` of the family's class with a head, such as `Model`."""
    return [TINY[family]["architectures"][0].removesuffix("ForCausalLM") + head]


def index(values: Json, width: int = 2) -> Json:
    """The index that a current writer saves for a config, every element `width` bytes wide."""
    blueprint = hfcount.blueprint(values)
    return {
        "metadata": {"total_size": blueprint.total * width},
        "weight_map": {tensor.name: "model-00001-of-00001.safetensors" for tensor in blueprint.tensors()},
    }


def save(folder: Path, values: Json | bytes, listed: Json | bytes | None = None) -> Path:
    """A checkpoint's folder, with these two documents in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_bytes(raw(values))
    if listed is not None:
        (folder / "model.safetensors.index.json").write_bytes(raw(listed))
    return folder


def save_tiny(folder: Path, family: str = "llama", **changes: Any) -> Path:
    """A checkpoint's folder that holds exactly what its tiny config says."""
    values = config(family, **changes)
    save(folder, values, listed := index(values))
    (name,) = set(listed["weight_map"].values())
    (folder / name).write_bytes(shard({one.name: one.shape for one in hfcount.blueprint(values).tensors()}))
    return folder


def record_tiny(folder: Path, family: str = "llama", **changes: Any) -> Path:
    """The same as a recording, without the weights."""
    values = config(family, **changes)
    return save(folder, values, index(values))


def shard(shapes: Mapping[str, tuple[int, ...]], dtype: str = "BF16", width: int = 2) -> bytes:
    """A safetensors file of zeros; `width` is the bytes of one element."""
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + prod(shape) * width
        header[name] = {"dtype": dtype, "shape": [int(size) for size in shape], "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + bytes(end)


def raw(value: Json | bytes) -> bytes:
    """A document's bytes."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def recorded(name: str, **changes: object) -> Json:
    """The config of a recorded architecture."""
    values: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return values | changes
