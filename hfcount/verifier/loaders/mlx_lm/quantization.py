"""Says which quantised checkpoints mlx-lm refuses (mlx_lm/utils.py of 0.32.2, load_model)."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from hfcount.verifier.loaders.loader import Checkpoint
from hfcount.verifier.loaders.mlx_lm.facts import Facts

_CONVERTED = "hf_quant_config.json"
_PACKED = (".scales", ".qweight", ".weight_scale", ".weight_scale_inv", ".weight_packed", "_scales", ".absmax")
_FORMATS = ("nvfp4-pack-quantized", "mxfp4-pack-quantized", "pack-quantized")
_MOST = 2_000

Values = Mapping[str, Any]
_Told = tuple[str, str]


def refusals(row: Facts, checkpoint: Checkpoint) -> Iterator[_Told]:
    """Why its settings or its tensors are refused, each with the place in the source."""
    values = checkpoint.values
    settings = values.get("quantization")
    if settings is not None:
        yield from _of_mlx(checkpoint, settings)
        return
    other = _settings(checkpoint)
    if other:
        yield from _of_others(row, checkpoint, other)
        return
    unread = next((announced for announced in checkpoint.announced if announced.file != _CONVERTED), None)
    if unread and is_packed(checkpoint):
        where = unread.key if unread.file == "config.json" else unread.file
        yield f"does not read {where}, and refuses the packed tensors", "mlx_lm/utils.py:484"


def _of_mlx(checkpoint: Checkpoint, settings: Any) -> Iterator[_Told]:
    """What MLX's own settings have to say; bits and groups are inferred from the tensors where no entry says them."""
    for key in ("group_size", "bits"):
        if not isinstance(settings, dict) or key not in settings:
            yield f"needs quantization.{key}", "mlx_lm/utils.py:512"
            return
    for path, entry in settings.items():
        if entry is False and (name := _entry(checkpoint, f"{path}.scales")):
            yield f"does not take {name}, which quantization says is dense", "mlx_lm/utils.py:500"
        elif isinstance(entry, dict):
            yield from _of_entry(checkpoint, path, entry)


def _of_entry(checkpoint: Checkpoint, path: str, entry: Values) -> Iterator[_Told]:
    """A module whose own entry says other bits or groups than its tensors have."""
    weight, scales = _shape(checkpoint, f"{path}.weight"), _shape(checkpoint, f"{path}.scales")
    if not weight or not scales:
        return
    usual = {"mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}.get(str(entry.get("mode", "affine")), (64, 4))
    group, bits = entry.get("group_size", usual[0]), entry.get("bits", usual[1])
    if type(group) is int and type(bits) is int and weight[-1] * 32 != scales[-1] * group * bits:
        yield f"takes {bits} bits in groups of {group} for {path}, which is stored otherwise", "mlx_lm/utils.py:500"


def _settings(checkpoint: Checkpoint) -> Values:
    """The settings of another quantiser that it reads; empty if there are none."""
    values, text = checkpoint.values, checkpoint.values.get("text_config")
    for place in (values, text if isinstance(text, dict) else {}):
        found = place.get("quantization_config")
        if isinstance(found, dict) and found:
            return found
    beside = next((announced for announced in checkpoint.announced if announced.file == _CONVERTED), None)
    return {"quant_method": "modelopt", **beside.settings} if beside else {}


def _of_others(row: Facts, checkpoint: Checkpoint, settings: Values) -> Iterator[_Told]:
    method = settings.get("quant_method")
    if method is None:
        yield "needs quantization, or quantization_config.quant_method", "mlx_lm/utils.py:523"
    elif method in ("awq", "gptq"):
        yield from _of_words(checkpoint, settings, str(method))
    elif method == "compressed-tensors" and settings.get("format") not in _FORMATS:
        yield f"refuses compressed-tensors of the format {settings.get('format')}", "mlx_lm/utils.py:325"
    elif method == "modelopt" and _algorithm(settings) != "NVFP4":
        yield f"refuses ModelOpt's {_algorithm(settings)}", "mlx_lm/utils.py:560"
    elif method not in row.converts and "HF504" not in checkpoint.codes:
        yield f"does not convert {method} for {row.module}", "mlx_lm/utils.py:569"


def _algorithm(settings: Values) -> Any:
    inner = settings.get("quantization")
    return (inner if isinstance(inner, dict) else settings).get("quant_algo")


def _of_words(checkpoint: Checkpoint, settings: Values, method: str) -> Iterator[_Told]:
    """GPTQ and AWQ, which it unpacks if words hold 4 bits of columns and groups are in order."""
    if settings.get("bits", 4) != 4:
        yield f"refuses {method} of {settings.get('bits')} bits", "mlx_lm/utils.py:114"
        return
    for name in islice(checkpoint.names(), _MOST):
        if name.endswith(".g_idx"):
            yield f"refuses {name}", "mlx_lm/utils.py:121"
            return
        if name.endswith(".qweight") and method == "gptq":
            yield f"takes the words of {name} for AWQ's, which are of rows", "mlx_lm/utils.py:128"
            return


def is_packed(checkpoint: Checkpoint) -> bool:
    """Whether there are tensors of packed weights among the first."""
    return any(name.endswith(_PACKED) for name in islice(checkpoint.names(), _MOST))


def _shape(checkpoint: Checkpoint, name: str) -> tuple[int, ...] | None:
    for shard in (checkpoint.shards or {}).values():
        if shard.header and name in shard.header.tensors:
            return tuple(shard.header.tensors[name].shape)
    return None


def _entry(checkpoint: Checkpoint, name: str) -> str:
    """The name if it is stored, else nothing."""
    if _shape(checkpoint, name) is not None:
        return name
    return name if checkpoint.shards is None and checkpoint.index and name in checkpoint.index.weight_map else ""
