"""Reads per_layer_config, the overrides of single layers in transformers 5.

Source: transformers 5.23, integrations/heterogeneity/configuration_utils.py.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hfcount.mapper.keys_without_shape import may_bear
from hfcount.mapper.reader import Config
from hfcount.text import printable, shown

KEY = "per_layer_config"


def overrides(c: Config, known: Collection[str], count: int) -> list[tuple[list[int], Config]]:
    """Layers by the values of their own that they have for keys in `known`, with the config as they see it.

    Args:
        count: the number of layers.

    Raises:
        ConfigError: HF001 or HF103, a layer's number or entry is none.
    """
    entries = {_number(c, name, count): (name, entry) for name, entry in _entries(c)}
    groups: dict[str, tuple[list[int], Config]] = {}
    for number, (name, entry) in sorted(entries.items()):
        values = {key: value for key, value in entry.items() if key in known}
        numbers, _ = groups.setdefault(repr(sorted(values.items())), ([], c.varied(f"{KEY}.{name}", values)))
        numbers.append(number)
    c.differing.update(known)
    return [group for text, group in groups.items() if text != "[]"]


def check_alike(c: Config) -> None:
    """Refuses values of single layers for a key that the architecture reads once for all of them.

    What nobody reads at all leaves the whole of it unread.

    Raises:
        ConfigError: HF103, with the key.
    """
    for part in c.parts:
        check_alike(part)
    foreign = False
    for name, entry in _entries(c):
        for key, value in entry.items():
            if key in c.differing or not may_bear(key, True) or value == c.value(key):
                continue
            if c.has_read(key):
                text = f"{KEY} sets for layer {printable(name, 20)} its own {printable(key, 60)}, {shown(value)}, and"
                raise c.error(
                    "contradiction",
                    f"{text} {c.family} has one value for all layers.",
                    f"{KEY}.{name}.{key}",
                    built=True,
                )
            foreign = foreign or may_bear(key, value)
    if not foreign:
        c.object(KEY)


def _entries(c: Config) -> Iterator[tuple[str, Mapping[str, Any]]]:
    given = c.value(KEY)
    for name, entry in (given if isinstance(given, dict) else {}).items():
        if not isinstance(entry, dict):
            raise c.malformed(f"{KEY} holds {shown(entry)} for a layer, but must hold objects.", f"{KEY}.{name}")
        yield name, entry


def _number(c: Config, name: str, count: int) -> int:
    if not (name.isascii() and name.isdigit()) or int(name[:20]) >= count:
        text = f"{KEY} names layer {printable(name, 20)}, but there are only layers 0 to {count - 1:,}."
        raise c.error("out-of-range", text, f"{KEY}.{name}", observed=printable(name, 20))
    return int(name)
