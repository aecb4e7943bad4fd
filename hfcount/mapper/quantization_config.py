"""Recognises quantisation schemes by the config, a file beside it, or stored names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from hfcount.text import printable

# MLX writes `quantization`, older llm-compressor files `compression_config`, everyone else `quantization_config`.
KEYS = ("quantization_config", "quantization", "compression_config")
"""Keys of a config that announce a scheme; of several the first counts."""

SIDE_FILES = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
"""Files beside config.json that announce a scheme: ModelOpt's, GPTQ's, and AWQ's of early versions."""


class Announcement(NamedTuple):
    """What announces a scheme.

    Args:
        method: as settings name it, or what they are evidently of; empty if that is unknown.
        name: the method for messages.
        key: where the settings are: a key of the config, or "" for all of a file.
        file: the file.
    """

    method: str
    name: str
    key: str
    file: str
    settings: Mapping[str, Any]


def announcements(config: Mapping[str, Any], beside: Mapping[str, Mapping[str, Any]] = {}) -> list[Announcement]:
    """All that announce a scheme, config.json's first.

    Args:
        beside: the objects in files beside it, by name.
    """
    entries = []
    text = config.get("text_config")
    parts = (("", config), ("text_config.", text if isinstance(text, dict) else {}))
    for prefix, part in parts:
        keys = [key for key in KEYS if isinstance(part.get(key), dict) and part[key]]
        if keys[:2] == list(KEYS[:2]) and not part[KEYS[0]].get("quant_method"):
            keys = keys[1:]  # MLX writes the same twice, and mlx-lm reads `quantization` alone
        if keys:
            extra = {key: config[key] for key in ("expert_dtype",) if key in config}  # DeepSeek's, beside it
            entries.append(_announcement({**extra, **part[keys[0]]}, f"{prefix}{keys[0]}", "config.json"))
            break
    for file in SIDE_FILES:
        settings = beside.get(file)
        if settings and _announces(settings):
            entries.append(_announcement(settings, "", file))
    if [entry.method for entry in entries] == ["modelopt", "modelopt"]:  # the file may say more than the config
        entries[0] = entries[0]._replace(settings={**entries[1].settings["quantization"], **entries[0].settings})
    return entries


def scheme(config: Mapping[str, Any]) -> str | None:
    """The name of the quantisation scheme that the config announces; None if it announces none."""
    entries = announcements(config)
    return entries[0].name if entries else None


def _announces(settings: Mapping[str, Any]) -> bool:
    """Whether a file beside the config is what its name says; other tools write files of the same names."""
    inner = settings.get("quantization")
    if isinstance(inner, dict):
        return isinstance(inner.get("quant_algo"), str)
    return type(settings.get("bits", settings.get("w_bit"))) is int


def _announcement(settings: Mapping[str, Any], key: str, file: str) -> Announcement:
    method = settings.get("quant_method")
    inner = settings.get("quantization")
    if isinstance(method, str) and method:
        label = method.lower()
    elif settings.get("load_in_4bit") is True or settings.get("load_in_8bit") is True:
        label = "bitsandbytes"
    elif "quant_algo" in (inner if isinstance(inner, dict) else settings):
        label = "modelopt"
    elif "config_groups" in settings or isinstance(settings.get("quantization_config"), dict):
        label = "compressed-tensors"
    elif file != "config.json":
        label = "awq" if "w_bit" in settings or "version" in settings else "gptq"
    elif isinstance(settings.get("group_size"), int) and isinstance(settings.get("bits"), int):
        label = "mlx"
    else:
        return Announcement("", "an unnamed scheme", key, file, settings)
    name = f"MLX {printable(str(settings.get('mode', 'affine')), 20)}" if label == "mlx" else printable(label, 40)
    return Announcement(label, name if not isinstance(method, str) else printable(method, 40), key, file, settings)


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
    "trellis": "EXL3",
    "q_invperm": "EXL2",
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
