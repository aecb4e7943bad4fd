"""The configs that are meant where a list has another number of entries than there are layers."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.mapper.whatif import Changes, get, steps


def fitted(values: Mapping[str, Any], key: str, count: object) -> Iterator[Changes]:
    """The number of layers by the list, then the list by the number of layers, where it is known how that goes on.

    Args:
        values: the config.
        key: the full path of the list.
        count: the number of layers that the config gives.
    """
    *path, name = steps(key)
    around: Any = values
    for step in path:
        around = get(around, step)
    entries = get(around, name)
    if not isinstance(entries, list) or not isinstance(around, Mapping) or type(count) is not int:
        return
    if not entries or len(entries) == count:
        return
    before = key.removesuffix(str(name))
    yield from (
        {f"{before}{other}": len(entries)} for other, value in around.items() if type(value) is int and value == count
    )
    if count < len(entries) or all(entry == entries[0] for entry in entries):
        yield {key: entries[:count] + entries[:1] * (count - len(entries))}
