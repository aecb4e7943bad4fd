"""What becomes of one tensor when a checkpoint is loaded and saved again, and how many are folded into a row."""

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Literal, NamedTuple

from hfcount.formats.dtypes import BITS
from hfcount.verifier.folded_names import fold, placed, products, written

Group = Literal["kept", "renamed", "cast", "tied", "filled", "lost"]
"""What becomes of tensors. cast: written in another dtype. tied: written once, under the name of the other. filled:
written, but not stored. lost: stored, and in no tensor that is written."""

GROUPS: tuple[Group, ...] = ("lost", "filled", "renamed", "cast", "tied", "kept")
"""All groups, the worst first."""


class Fate(NamedTuple):
    """What becomes of a tensor.

    Args:
        stored: its name in the checkpoint; empty if it is not stored.
        written: its name in what is saved; empty if it is not written.
        shape: in elements.
        dtype: what it is stored in, by the format's name; empty if it is not stored.
        written_dtype: what it is written in; empty if it is not written.
        why: the reason, as a clause without a full stop; empty if it is kept.
    """

    group: Group
    stored: str
    written: str
    shape: tuple[int, ...]
    dtype: str
    written_dtype: str
    why: str = ""


class FoldedFates(NamedTuple):
    """Tensors of which the same becomes, and whose names differ only in numbers.

    Args:
        name: the folded name: as stored, or as written if they are not stored.
        written: the folded name that is written; empty if they are not.
        tensors: how many they are.
        elements: of all of them.
        bytes: as stored, or as written if they are not stored.
        written_bytes: 0 if they are not written.
        fate: that of one of them.
    """

    name: str
    written: str
    tensors: int
    elements: int
    bytes: int
    written_bytes: int
    fate: Fate


def folded(fates: Iterable[Fate]) -> list[FoldedFates]:
    """The rows of fates, in the order of the first of each."""
    return list(_rows(fates))


def folded_as_written(fates: Iterable[Fate]) -> list[FoldedFates]:
    """The rows of what is written, by the names in it."""
    same = (fate._replace(group="kept", stored="", dtype="", why="") for fate in fates if fate.written)
    return list(_rows(same))


def row_of(fate: Fate, name: str, tensors: int) -> FoldedFates:
    """The row of tensors that are alike and known by their folded name."""
    elements = tensors * prod(fate.shape)
    size, after = (elements * BITS[dtype] // 8 if dtype else 0 for dtype in (fate.dtype, fate.written_dtype))
    return FoldedFates(name, fate.written and name, tensors, elements, size if fate.dtype else after, after, fate)


def _main_name(fate: Fate) -> str:
    return fate.stored or fate.written


def _rows(fates: Iterable[Fate]) -> Iterator[FoldedFates]:
    groups: dict[tuple[object, ...], tuple[Fate, dict[tuple[int, ...], str]]] = {}
    for fate in fates:
        text, numbers = placed(_main_name(fate))
        other = placed(fate.written)[0]
        key = (*fate._replace(stored="", written=""), text, other)
        groups.setdefault(key, (fate, {}))[1][numbers] = fate.written
    for fate, names in groups.values():
        text = placed(_main_name(fate))[0]
        for ranges in products(list(names)):
            places = list(product(*ranges))
            row = row_of(fate, written(text, ranges), len(places))
            if fate.written not in ("", _main_name(fate)):
                row = row._replace(written=", ".join(fold(names[place] for place in places)))
            yield row
