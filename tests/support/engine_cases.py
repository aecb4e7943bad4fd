"""Small checkpoints for each switch that one engine obeys and another ignores, with what follows from the source."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from loopback import write_shard

import hfcount

Json = dict[str, Any]
Tensors = dict[str, tuple[str, tuple[int, ...]]]

SINGLE, INDEX, HEAD, EMBED = (
    "model.safetensors",
    "model.safetensors.index.json",
    "lm_head.weight",
    "model.embed_tokens.weight",
)
PARTS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")

LLAMA: Json = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "dtype": "bfloat16",
    "vocab_size": 96,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 16,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}
GPTQ: Json = {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True}
AWQ: Json = {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"}
FP8: Json = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [32, 32]}
FP8_SCALE = "weight_scale_inv"
MLX: Json = {"group_size": 32, "bits": 4}
CT: Json = {
    "quant_method": "compressed-tensors",
    "format": "float-quantized",
    "quantization_status": "compressed",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": True, "dynamic": False},
            "input_activations": {
                "num_bits": 8,
                "type": "float",
                "strategy": "token",
                "symmetric": True,
                "dynamic": True,
            },
        }
    },
}
NVFP4: Json = {
    "producer": {"name": "modelopt", "version": "0.29.0"},
    "quantization": {
        "quant_algo": "NVFP4",
        "kv_cache_quant_algo": None,
        "group_size": 16,
        "exclude_modules": ["lm_head"],
    },
}


def tensors(values: Json) -> Tensors:
    """What a checkpoint of a config stores, dense."""
    plain = {key: value for key, value in values.items() if "quantization" not in key and key != "compression_config"}
    found = hfcount.blueprint(plain).tensors(stored=True)
    return {one.name: ("BF16", tuple(map(int, one.shape))) for one in found}


def packed(dense: Tensors, pack: Callable[[str, int, int], Tensors], *left: str) -> Tensors:
    """The same with every projection packed but those that have a part of `left` in their names."""
    out: Tensors = {}
    for name, (dtype, shape) in dense.items():
        if "_proj.weight" in name and not any(part in name for part in left):
            out |= pack(name.removesuffix(".weight"), *shape)
        else:
            out[name] = (dtype, shape)
    return out


def gptq(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as GPTQ stores it in 4 bits."""
    return {
        f"{stem}.qweight": ("I32", (columns // 8, rows)),
        f"{stem}.qzeros": ("I32", (columns // 32, rows // 8)),
        f"{stem}.scales": ("F16", (columns // 32, rows)),
        f"{stem}.g_idx": ("I32", (columns,)),
    }


def awq(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as AWQ stores it."""
    return {
        f"{stem}.qweight": ("I32", (columns, rows // 8)),
        f"{stem}.qzeros": ("I32", (columns // 32, rows // 8)),
        f"{stem}.scales": ("F16", (columns // 32, rows)),
    }


def fp8(stem: str, rows: int, columns: int, block: int = 32) -> Tensors:
    """A matrix in FP8 with a scale for each block."""
    return {
        f"{stem}.weight": ("F8_E4M3", (rows, columns)),
        f"{stem}.{FP8_SCALE}": ("F32", (-(-rows // block), -(-columns // block))),
    }


def ct(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix in FP8 with one scale."""
    return {f"{stem}.weight": ("F8_E4M3", (rows, columns)), f"{stem}.weight_scale": ("BF16", (1,))}


def mlx(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as MLX stores it."""
    return {
        f"{stem}.weight": ("U32", (rows, columns // 8)),
        f"{stem}.scales": ("BF16", (rows, columns // 32)),
        f"{stem}.biases": ("BF16", (rows, columns // 32)),
    }


def nvfp4(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as ModelOpt stores it in NVFP4."""
    return {
        f"{stem}.weight": ("U8", (rows, columns // 2)),
        f"{stem}.weight_scale": ("F8_E4M3", (rows, columns // 16)),
        f"{stem}.weight_scale_2": ("F32", ()),
        f"{stem}.input_scale": ("F32", ()),
    }


class Made(NamedTuple):
    """A checkpoint: its config, its weight files, and documents beside them.

    Args:
        index: the weight map; None for that of the files if there are several, {} for none.
    """

    values: Json
    files: Mapping[str, Tensors]
    index: Mapping[str, str] | None = None
    documents: Mapping[str, Json] = {}
    config: str = "config.json"

    def write(self, folder: Path) -> Path:
        """The folder, with all of it."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / self.config).write_text(json.dumps(self.values))
        bytes_of = {}
        for name, stored in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            bytes_of[name] = write_shard(folder / name, stored)
        index = self.index
        if index is None:
            index = {one: name for name, stored in self.files.items() for one in stored} if len(self.files) > 1 else {}
        if index:
            total = sum(bytes_of[name] for name in set(index.values()))
            (folder / INDEX).write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": index}))
        for name, document in self.documents.items():
            (folder / name).write_text(json.dumps(document))
        return folder


def of(values: Json, stored: Tensors | None = None, **documents: Json) -> Made:
    """A checkpoint of one file; of a document's name `__` stands for the dot."""
    named = {name.replace("__", "."): document for name, document in documents.items()}
    return Made(values, {SINGLE: tensors(values) if stored is None else stored}, documents=named)


def halves(values: Json, stored: Tensors | None = None, folder: str = "") -> Made:
    """A checkpoint of two shards, in a folder of its own if that is given."""
    stored = tensors(values) if stored is None else stored
    names = list(stored)
    cut = len(names) // 2
    first, second = (f"{folder}{part}" for part in PARTS)
    return Made(values, {first: {n: stored[n] for n in names[:cut]}, second: {n: stored[n] for n in names[cut:]}})


def adapter(more: Tensors | None = None, rank: int = 8, **settings: Any) -> Made:
    """A LoRA adapter of LLAMA."""
    stored: Tensors = {}
    for layer in range(2):
        stem = f"base_model.model.model.layers.{layer}.self_attn.q_proj"
        stored |= {f"{stem}.lora_A.weight": ("F32", (rank, 64)), f"{stem}.lora_B.weight": ("F32", (64, rank))}
    values = {"peft_type": "LORA", "r": rank, "lora_alpha": 16, "target_modules": ["q_proj"], "task_type": "CAUSAL_LM"}
    values = {key: value for key, value in (values | settings).items() if value is not ...}
    return Made(values, {"adapter_model.safetensors": stored | (more or {})}, config="adapter_config.json")


def nf4(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as bitsandbytes stores it in four bits."""
    count = rows * columns
    return {
        f"{stem}.weight": ("U8", (count // 2, 1)),
        f"{stem}.weight.absmax": ("F32", (count // 64,)),
        f"{stem}.weight.quant_map": ("F32", (16,)),
        f"{stem}.weight.quant_state.bitsandbytes__nf4": ("U8", (82,)),
    }


def ct_packed(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as compressed-tensors packs four bits in groups of 32."""
    return {
        f"{stem}.weight_packed": ("I32", (rows, columns // 8)),
        f"{stem}.weight_scale": ("BF16", (rows, columns // 32)),
        f"{stem}.weight_shape": ("I64", (2,)),
    }


def fp8_tensor(stem: str, rows: int, columns: int) -> Tensors:
    """A matrix as ModelOpt stores it in FP8."""
    return {
        f"{stem}.weight": ("F8_E4M3", (rows, columns)),
        f"{stem}.weight_scale": ("F32", ()),
        f"{stem}.input_scale": ("F32", ()),
    }


class Row(NamedTuple):
    """A case: which switch it turns, and what each engine makes of it.

    Args:
        vllm, sglang: the outcome, and a part of the source that says so.
        transformers: the outcome in the newest version, if the case is about it.
    """

    switch: int
    name: str
    made: Callable[[], Made]
    vllm: tuple[str, str] = ("", "")
    sglang: tuple[str, str] = ("", "")
    transformers: str = ""
