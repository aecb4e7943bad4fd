"""Presets of well-known quantisation schemes, by short names."""

from collections.abc import Mapping
from typing import Any

_FLOAT_8 = {"num_bits": 8, "type": "float", "symmetric": True}


def _compressed(form: str, weights: Mapping[str, Any], inputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": dict(weights), "input_activations": inputs}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "ignore": ["lm_head"],
        "config_groups": {"all": group},
    }


def _mlx(bits: int, group: int = 64, mode: str = "affine") -> dict[str, Any]:
    return {"bits": bits, "group_size": group, "mode": mode}


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "fp8": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    "fp8-dynamic": _compressed("float-quantized", {**_FLOAT_8, "strategy": "channel"}),
    "int8": _compressed("int-quantized", {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel"}),
    "w4a16": _compressed("pack-quantized", {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}),
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128},
    "nvfp4": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]},
    "mxfp4": _compressed(
        "mxfp4-pack-quantized", {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}
    ),
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "nf4-double": {
        "quant_method": "bitsandbytes",
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": True,
    },
    "bnb-int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
    "hqq": {"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64, "axis": 1}}},
    "mlx-3": _mlx(3),
    "mlx-4": _mlx(4),
    "mlx-6": _mlx(6),
    "mlx-8": _mlx(8),
    "mlx-mxfp4": _mlx(4, 32, "mxfp4"),
}
"""A `quantization_config` by name."""
