"""Explains totals that exceed the stored contents by possibly lost layers, heads or rows."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.errors import HfcountError
from hfcount.formats.safetensors import Entry
from hfcount.mapper import Config
from hfcount.mapper.whatif import changed
from hfcount.text import plural
from hfcount.verifier.folded_names import placed

_COUNTS = re.compile("layer|depth|block")
_DEEPEST = 1_000
_TABLES = ("embedding", "lm_head")

Measure = Callable[[Entry], int]
"""Bytes or elements of a tensor."""


def in_bytes(entry: Entry) -> int:
    """The bytes of a tensor."""
    return entry.end - entry.begin


def in_elements(entry: Entry) -> int:
    """The elements of a tensor."""
    return prod(entry.shape)


def announced(
    claim: object, tensors: Mapping[str, Entry], blueprint: Blueprint | None, measure: Measure, expected: int
) -> str | None:
    """What a total suggests was lost, as a sentence; None if nothing.

    Args:
        claim: the total in the index.
        tensors: the stored tensors.
        measure: the unit of the total.
        expected: the total of what is stored.
    """
    more = claim - expected if type(claim) is int else 0
    if more <= 0:
        return None
    for what, size, most in (*_layers(tensors, measure), *_tables(tensors, blueprint, measure)):
        if size and more % size == 0 and more // size <= most:
            return (
                f"{claim:,} would be right with {plural(more // size, what)} more, which may have been lost. If you"
                " still have that, restore it instead."
            )
    return None


def deeper(values: Mapping[str, Any], blueprint: Blueprint) -> Iterator[tuple[str, int]]:
    """Elements that one or two more layers would add, by the key that counts layers."""
    nested = {name: value for name, value in values.items() if name.endswith("_config")}
    parts = {f"{name}.": value for name, value in nested.items() if isinstance(value, dict)}
    for path, around in {"": values, **parts}.items():
        for name, value in around.items():
            if type(value) is not int or not _COUNTS.search(name) or not 0 < value < _DEEPEST:
                continue
            for by in (1, 2):
                with suppress(HfcountError):
                    made = build(Config(changed(values, {f"{path}{name}": value + by})))
                    yield f"{path}{name}", made.total - blueprint.total


def _layers(tensors: Mapping[str, Entry], measure: Measure) -> Iterator[tuple[str, int, int]]:
    """("layer", size, count) for each size of layer in each stack."""
    stacks: dict[str, dict[int, int]] = {}
    for name, entry in tensors.items():
        (first, *_), numbers = placed(name)
        if numbers:
            layers = stacks.setdefault(first, {})
            layers[numbers[0]] = layers.get(numbers[0], 0) + measure(entry)
    for layers in stacks.values():
        yield from (("layer", size, len(layers)) for size in {*layers.values()})


def _tables(
    tensors: Mapping[str, Entry], blueprint: Blueprint | None, measure: Measure
) -> Iterator[tuple[str, int, int]]:
    """Sizes of vocabulary tables as a lost head, and of one row in all of them."""
    leaves = blueprint.leaves if blueprint else ()
    names = {name for leaf in leaves if leaf.component in _TABLES for name in leaf.names()}
    tables = [entry for name, entry in tensors.items() if name in names and len(entry.shape) == 2 and entry.shape[0]]
    yield from (("head", measure(entry), 1) for entry in tables)
    for rows in {entry.shape[0] for entry in tables}:
        alike = [measure(entry) for entry in tables if entry.shape[0] == rows]
        yield from (("row", size // rows, rows) for size in (sum(alike), *alike))
