"""Quantisation schemes: announced by a config, or recognised by stored names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hfcount.text import printable

# MLX writes `quantization`, older llm-compressor files `compression_config`, everyone else `quantization_config`.
_KEYS = ("quantization_config", "quantization", "compression_config")


def scheme(config: Mapping[str, Any]) -> str | None:
    """The name of the quantisation scheme that the config announces; None if it announces none."""
    text = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):
        found = [part[key] for key in _KEYS if isinstance(part.get(key), dict) and part[key]]
        if found:
            return _name(found[0])
    return None


def _name(settings: Mapping[str, Any]) -> str:
    method = settings.get("quant_method")
    if isinstance(method, str) and method:
        return printable(method, 40)
    if settings.get("load_in_4bit") is True or settings.get("load_in_8bit") is True:
        return "bitsandbytes"
    if isinstance(settings.get("group_size"), int) and isinstance(settings.get("bits"), int):
        return f"MLX {printable(str(settings.get('mode', 'affine')), 20)}"
    return "an unnamed scheme"


# Last segments of names that only packed weights have, and the scheme that writes them.
_SUFFIXES = {
    "qweight": "GPTQ or AWQ",
    "qzeros": "GPTQ or AWQ",
    "g_idx": "GPTQ",
    "absmax": "bitsandbytes",
    "quant_map": "bitsandbytes",
    "SCB": "bitsandbytes",
    "weight_scale_inv": "FP8 in blocks",
    "weight_packed": "compressed-tensors",
    "weight_scale": "compressed-tensors or ModelOpt",
    "weight_scale_2": "ModelOpt",
    "weight_global_scale": "compressed-tensors",
    "W_q": "HQQ",
    "codebooks": "AQLM",
    "centroids": "VPTQ",
    "_weight_qdata": "torchao",
    "scales": "MLX",
}


def scheme_of_names(names: Iterable[str], described: Callable[[str], bool]) -> str | None:
    """The scheme that stored names suggest, for a config that announces none.

    Args:
        names: stored names that the blueprint lacks.
        described: whether the blueprint has a tensor of that name. A suffix counts as packing only next to a described
            tensor (except MXFP4 names).
    """
    for name in names:
        module, _, last = name.rpartition(".")
        method = "MXFP4" if last.endswith(("_proj_blocks", "_proj_scales")) else _SUFFIXES.get(last)
        if method == "MXFP4" or (method and (described(f"{module}.weight") or described(module))):
            return f"what looks like {method} (by {printable(name, 80)})"
    return None
