"""Reading a params.json: objects of keys that are known, and sizes."""

from collections.abc import Collection, Mapping
from typing import Any

from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.text import printable, shown

_UNUSED: Mapping[str, Collection[object]] = {
    "causal": (True,),
    "model_type": ("transformer",),
    "route_every_n": (1,),
    "use_biases": (False,),
    "use_load_balancing_bias": (False,),
}
"""Keys that bring other tensors with other values than these."""


def known(values: object, name: str, keys: Collection[str], where: str) -> Mapping[str, Any]:
    """An object of these keys alone; another key may bring tensors that are not described."""
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"{where}: {name} is {shown(values)}, but must be an object.", variant="unknown-kind", key=name
        )
    if unknown := [key for key in values if values[key] is not None and not _is_known(key, values[key], keys)]:
        what = f"{printable(unknown[0], 60)} in {name}"
        brings = f"how quantization by {what} packs weights" if name == "quantization" else f"what {what} brings"
        raise UnknownArchitecture(f"{where}: {brings} is not described.")
    return values


def _is_known(key: str, value: object, keys: Collection[str]) -> bool:
    return key in keys or value in _UNUSED.get(key, ())


def size(values: Mapping[str, Any], key: str, where: str, default: int | None = None, least: int = 1) -> int:
    """A whole number of at least `least`, which is required unless there is a default."""
    value = values.get(key, default)
    if value is None:
        raise ConfigError(f"{where} has no {key}.", "HF101", key=key, fix="Download it again, or add the key.")
    if type(value) is not int or value < least:
        text = f"{where} has {shown(value)} for {key}, but must give a positive number."
        raise ConfigError(text, variant="out-of-range", key=key)
    return value


def truth(values: Mapping[str, Any], key: str, where: str) -> bool:
    """Whether the key is true; absent or null it is false."""
    value = values.get(key)
    if value is not None and not isinstance(value, bool):
        raise ConfigError(f"{where} has {shown(value)} for {key}, but must give true or false.", "HF001", key=key)
    return value is True
