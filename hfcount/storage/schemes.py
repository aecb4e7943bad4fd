"""Quantisation schemes, as a config announces them."""

from collections.abc import Mapping
from typing import Any

from hfcount.text import printable

# MLX writes `quantization`, older llm-compressor files `compression_config`, everyone else `quantization_config`.
_KEYS = ("quantization_config", "quantization", "compression_config")


def scheme(config: Mapping[str, Any]) -> str | None:
    """The name of the scheme that the weights are packed with; None when the config announces none."""
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
