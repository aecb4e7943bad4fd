"""Folds tensors into rows of one name, dtype and shape, from which every name can be had again."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple

from hfcount.spec.tree.leaves import joined, split

_DEEP = 6  # numbers in a name that is folded
_MOST = 2_000_000  # names that rows are unfolded to
_SHARD = re.compile(r"-\d+(-of-\d+\.\w+)$")
_NUMBERS = re.compile(r"\{(\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*)\}")

Row = Mapping[str, Any]
"""`file` (of shards a pattern, see `set_of`), `name` with ranges in braces, `dtype`, `shape`, `tensors`, `sha256`."""


class StoredTensor(NamedTuple):
    """A tensor in a file or a set of shards."""

    file: str
    name: str
    dtype: str
    shape: tuple[int, ...]


def set_of(file: str) -> str:
    """The pattern of the set that a shard is in: `model-*-of-00002.safetensors`; another file's own name."""
    return _SHARD.sub(r"-*\1", file)


def folded(tensors: Iterable[StoredTensor]) -> list[dict[str, Any]]:
    """Rows of tensors that have the same dtype and shape and differ in the numbers of their names, sorted."""
    groups: dict[tuple[str, str, tuple[int, ...], tuple[str, ...]], set[tuple[int, ...]]] = {}
    for tensor in tensors:
        text, numbers = split(tensor.name)
        if len(numbers) > _DEEP:
            text, numbers = (f".{tensor.name}",), ()
        groups.setdefault((tensor.file, tensor.dtype, tensor.shape, text), set()).add(numbers)
    rows = [
        _row(file, dtype, shape, text, ranges)
        for (file, dtype, shape, text), numbers in groups.items()
        for ranges in _products(numbers)
    ]
    return sorted(rows, key=_place)


def _place(row: Row) -> tuple[Any, ...]:
    return row["file"], row["name"], row["dtype"], row["shape"]


def _row(
    file: str, dtype: str, shape: tuple[int, ...], text: tuple[str, ...], ranges: tuple[tuple[int, ...], ...]
) -> dict[str, Any]:
    digest, count = sha256(), 0
    for numbers in product(*ranges):
        digest.update(f"{joined(text, numbers)}\t{dtype}\t{list(shape)}\n".encode("utf-8", "surrogatepass"))
        count += 1
    first, *rest = text
    name = first + "".join(f".{_written(part)}{after}" for part, after in zip(ranges, rest, strict=True))
    facts = {"file": file, "name": name[1:], "dtype": dtype, "shape": list(shape)}
    return {**facts, "tensors": count, "sha256": digest.hexdigest()}


def _products(numbers: Collection[tuple[int, ...]]) -> list[tuple[tuple[int, ...], ...]]:
    """Sets of numbers for each place of a name, whose products together are all `numbers`."""
    inner: dict[int, set[tuple[int, ...]]] = {}
    for first, *rest in filter(None, numbers):
        inner.setdefault(first, set()).add(tuple(rest))
    if not inner:
        return [()]
    alike: dict[frozenset[tuple[int, ...]], list[int]] = {}
    for first in sorted(inner):
        alike.setdefault(frozenset(inner[first]), []).append(first)
    return [(tuple(firsts), *rest) for rests, firsts in alike.items() for rest in _products(rests)]


def _written(numbers: tuple[int, ...]) -> str:
    """`7`, or ranges in braces: `{0-31}`, `{0-4,6}`."""
    if len(numbers) == 1:
        return str(numbers[0])
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return "{" + ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) + "}"


def unfolded(rows: Iterable[Row]) -> dict[tuple[str, str], StoredTensor] | None:
    """The tensors of rows by file and name; None if they are too many, or are not what the rows say they are."""
    tensors: dict[tuple[str, str], StoredTensor] = {}
    for row in rows:
        parts = _NUMBERS.split(row["name"])
        ranges = [*map(_read, parts[1::2])]
        count = 1
        for part in ranges:
            count *= sum(b - a + 1 for a, b in part)
        if count != row["tensors"] or len(tensors) + count > _MOST:
            return None
        for numbers in product(*([n for a, b in part for n in range(a, b + 1)] for part in ranges)):
            name = "".join(_alternated(parts[::2], numbers))
            tensors[row["file"], name] = StoredTensor(row["file"], name, row["dtype"], tuple(row["shape"]))
    return tensors


def _read(text: str) -> list[tuple[int, int]]:
    ends = ([int(end) for end in run.split("-")] for run in text.split(","))
    return [(pair[0], pair[-1]) for pair in ends]


def _alternated(texts: list[str], numbers: Iterable[int]) -> Iterator[str]:
    yield texts[0]
    for number, text in zip(numbers, texts[1:], strict=True):
        yield f"{number}{text}"
