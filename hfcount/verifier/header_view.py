"""Merges the headers of a checkpoint, and lists their differences from the index."""

from collections.abc import Iterable, Mapping
from math import prod

from hfcount.formats.dtypes import BITS
from hfcount.formats.index import Index
from hfcount.formats.safetensors import Entry, Shard
from hfcount.record import State, made


class HeaderView(State, kw_only=False):
    """The headers of a checkpoint, merged.

    Args:
        shards: the files that exist, by name.
        absent: file names in the index that do not exist.
        entries: every tensor in a header, by name.
        twice: tensors stored in two files, as (name, first file, second file).
        gone: tensors of the index that its file, which was read, does not hold.
        moved: tensors in another file than the index says, as (name, file in the index, actual file).
        omitted: tensors that the index does not list, as (name, file).
    """

    shards: Mapping[str, Shard]
    absent: list[str] = made(factory=list)
    entries: dict[str, Entry] = made(factory=dict)
    twice: list[tuple[str, str, str]] = made(factory=list)
    gone: list[str] = made(factory=list)
    moved: list[tuple[str, str, str]] = made(factory=list)
    omitted: list[tuple[str, str]] = made(factory=list)

    @property
    def complete(self) -> bool:
        """Whether every file exists and has a valid header."""
        return not self.absent and all(shard.header for shard in self.shards.values())

    @property
    def data_bytes(self) -> int:
        """Bytes of all tensors in the headers. A tensor in two files counts twice."""
        return sum(shard.header.data for shard in self.shards.values() if shard.header)

    @property
    def elements(self) -> dict[str, int]:
        """Elements by dtype, the most first. A tensor in two files counts once."""
        sums: dict[str, int] = {}
        for dtype, _, begin, end in self.entries.values():
            sums[dtype] = sums.get(dtype, 0) + end - begin
        return {dtype: sums[dtype] * 8 // BITS[dtype] for dtype in sorted(sums, key=lambda name: -sums[name])}

    def sizes(self, names: Iterable[str]) -> tuple[int, int]:
        """Elements and bytes, in all, of the tensors of these names that are stored."""
        entries = [self.entries[name] for name in names if name in self.entries]
        return sum(prod(entry.shape) for entry in entries), sum(entry.end - entry.begin for entry in entries)


def merge(shards: Mapping[str, Shard], index: Index | None) -> HeaderView:
    """Merges the headers, and compares them with the index if there is one."""
    view = HeaderView(shards)
    place: dict[str, str] = {}
    for name, shard in sorted(shards.items()):
        tensors = shard.header.tensors if shard.header else {}
        if not place.keys().isdisjoint(tensors):
            view.twice += [(tensor, place[tensor], name) for tensor in tensors if tensor in place]
        view.entries.update(tensors)
        place.update(dict.fromkeys(tensors, name))
    if index is None:
        return view
    view.absent = sorted(index.shards - shards.keys())
    if place != index.weight_map:
        _compare(view, place, index)
    for name, first, second in view.twice:  # of two copies, keep the one in the file that the index names
        meant = shards.get(index.weight_map.get(name, ""))
        if meant is not None and meant.header and meant.name in (first, second):
            view.entries[name] = meant.header.tensors[name]
    return view


def _compare(view: HeaderView, place: Mapping[str, str], index: Index) -> None:
    doubled = {name for name, _, _ in view.twice}
    for name, listed in index.weight_map.items():
        actual = place.get(name)
        if actual == listed or name in doubled:
            continue
        if actual is not None:
            view.moved.append((name, listed, actual))
        elif (shard := view.shards.get(listed)) is not None and shard.header:
            view.gone.append(name)
    view.omitted = [(name, actual) for name, actual in place.items() if name not in index.weight_map]
