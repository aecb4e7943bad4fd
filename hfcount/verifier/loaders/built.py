"""Says with which values of single keys a version of transformers builds a model, where the newest does not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hfcount.mapper.built_values import built_values
from hfcount.mapper.class_defaults import declared

Part = tuple[str, Mapping[str, Any], str]
"""A config or one nested in it: its path, what it says, and its model_type."""

_TYPE = ".model_type"


def is_built(version: str, newest: str, parts: Iterable[Part], key: str) -> bool:
    """Whether a version is known to build a model with the value of a key that the newest builds none with.

    Args:
        parts: the config and those nested in it.
        key: its full path.
    """
    own = key.endswith(_TYPE)
    path = key.removesuffix(_TYPE) if own else key
    for at, values, kind in parts:
        name = path.removeprefix(at)
        if not path.startswith(at) or name not in values:
            continue
        now, before = (built_values(kind, each) for each in (newest, version))
        if now is None or before is None or not before.asked:
            continue
        canonical = declared(kind).names.get(name, name)
        if own:
            return now.refuses("own", name) and not before.refuses("own", name)
        value = values[name]
        return bool(now.needed(canonical, value)) and not before.needed(canonical, value)
    return False


def uneven(version: str, parts: Iterable[Part]) -> Iterator[str]:
    """What a version refuses of numbers of heads that do not divide a size."""
    for at, values, kind in parts:
        built = built_values(kind, version)
        for key, other, size in built.undivided(values, declared(kind).keys) if built else ():
            yield f"refuses {at}{key}, which does not divide {at}{other}, {size:,}"
