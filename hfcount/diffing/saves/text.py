"""Renders what a version of transformers writes of a checkpoint, for the terminal."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hfcount.diffing.saves.fates import Group
from hfcount.text import binary, plural
from hfcount.verifier.loaders.loader import Loader

if TYPE_CHECKING:
    from hfcount.diffing.saves.model import SavedGroup, SavedRow, Saves

MOST = 12
"""Rows of a group that are shown without --details."""

TITLES: dict[Group, str] = {
    "lost": "Lost: stored, and in no tensor that is written",
    "filled": "Filled anew: written, but not stored (random, or as the class begins)",
    "renamed": "Written under another name",
    "cast": "Written in another dtype",
    "tied": "Tied: written once, under the name of the other",
    "kept": "Written as stored",
}
"""Titles of the groups, in the order in which they are shown."""


def answer(result: "Saves") -> str:
    """The answer in a line."""
    who = Loader(result.loader, result.version)
    if result.error is not None:
        return f"{result.model}: not read: {result.error.message}"
    if result.refuses is not None:
        return f"{result.model}: {who} does not load it, and writes nothing: it {result.refuses}."
    if result.loses is None:
        return f"{result.model}: what {who} writes cannot be said: {result.unknown}."
    stored = plural(result.stored.tensors, "stored tensor")
    if not result.loses:
        more = "" if not result.filled.tensors else f", and fills {plural(result.filled.tensors, 'tensor')} anew"
        return f"{result.model}: {who} loses nothing of {stored}{more}."
    lost = result.lost
    return f"{result.model}: {who} loses {lost.tensors:,} of {stored} ({size(lost)})."


def size(group: "SavedGroup") -> str:
    """Elements and bytes of a group."""
    return f"{plural(group.elements, 'element')}, {binary(group.bytes)}"


def render(result: "Saves", details: bool) -> str:
    """The text that the terminal shows.

    Args:
        details: whether all rows are listed, with those that are written as they are stored.
    """
    return "\n".join([answer(result), *_lines(result, details)])


def _lines(result: "Saves", details: bool) -> Iterator[str]:
    for name, title in TITLES.items():
        group: SavedGroup = getattr(result, name)
        if group.tensors and (details or name != "kept"):
            yield f"{title} ({plural(group.tensors, 'tensor')})"
            yield from (f"  {text}" for text in _rows(name, group, details))
    if details and result.written.tensors:
        yield f"Written ({plural(result.written.tensors, 'tensor')}, {binary(result.written.bytes)})"
        yield from (f"  {row.name}  {shape(row)} {row.written_dtype}" for row in result.written.rows)
    for key in result.config:
        yield f"config.json: {key.key}: {key.stored or 'absent'} -> {key.written or 'absent'}"
    yield from result.notes
    if result.call and result.dtype:
        yield f"Meant is {result.call}, in {result.dtype} ({result.dtype_from})."


def _rows(name: Group, group: "SavedGroup", details: bool) -> Iterator[str]:
    if name == "cast" and len(group.rows) > MOST and not details:
        pairs = Counter[str]()
        for row in group.rows:
            pairs[f"{row.dtype} -> {row.written_dtype}"] += row.tensors
        yield from (f"{pair}: {plural(count, 'tensor')}; --details lists them" for pair, count in pairs.items())
        return
    shown = group.rows if details else group.rows[:MOST]
    yield from map(line, shown)
    if len(shown) < len(group.rows):
        yield f"and {plural(len(group.rows) - len(shown), 'more row')}; --details has all"


def line(row: "SavedRow") -> str:
    """What becomes of the tensors of a row."""
    name = row.name if row.written in (None, row.name) else f"{row.name} -> {row.written}"
    types = [dtype for dtype in (row.dtype, row.written_dtype) if dtype]
    why = f": {row.why}" if row.why and row.dtype else ""
    return f"{name}  {shape(row)} {' -> '.join(dict.fromkeys(types))}{why}"


def shape(row: "SavedRow") -> str:
    """`2 × 8×16`: how many tensors, and the shape of each."""
    each = "×".join(f"{extent:,}" for extent in row.shape) or "scalar"
    return each if row.tensors == 1 else f"{row.tensors:,} of {each}"
