"""Presents tensors in memory as the documents of a checkpoint with one weight file."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from hfcount.fetcher.interface import Documents, Pickles, Progress
from hfcount.fetcher.layout import CONFIG, SINGLE
from hfcount.formats.dtypes import stored_as
from hfcount.formats.json import Document
from hfcount.formats.safetensors import LENGTH_BYTES, Shard, read_shard
from hfcount.formats.samples import Piece, Samples
from hfcount.text import printable, typed

Alike = Callable[[Any, Any], bool | None]
"""Whether two tensors of one shape hold the same values; None where nobody knows."""


def documents(
    config: Mapping[str, Any],
    tensors: Mapping[str, Any],
    title: str = "tensors in memory",
    alike: Alike = lambda tensor, other: None,
) -> Documents:
    """The documents of a config and of tensors: by name (shape in elements, dtype), or what has these attributes.

    `alike` compares two of the tensors, which is asked of those that are said to be copies.

    Raises:
        TypeError: the config is no mapping with str keys, or a tensor has no shape or dtype.
        ValueError: safetensors has no such dtype.
    """
    if not isinstance(config, Mapping):
        raise TypeError(f"config is {typed(config)}, but must be a dict: the JSON object that a config.json holds.")
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors is {typed(tensors)}, but must be a dict of names to shapes and dtypes.")
    document = Document(CONFIG, json.dumps(dict(config), default=str).encode())
    return Documents(title, "memory", None, document, None, MemoryShards(_shard(tensors), tensors, alike))


class MemoryShards:
    """A single weight file that exists in memory only."""

    local, whole = True, True
    kept: Collection[str] = ()

    def __init__(self, shard: Shard, tensors: Mapping[str, Any], alike: Alike) -> None:
        self._shard, self.tensors, self._alike = shard, tensors, alike
        self.names: Collection[str] | None = (shard.name,)

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        """See Shards."""
        return {name: self._shard.size for name in wanted if name == self._shard.name}

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        """See Shards."""
        done()
        return {name: self._shard for name in wanted if name == self._shard.name}

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        """See Shards."""
        return {}

    def sample(self, wanted: Collection[Piece]) -> Samples:
        """A stand-in digest for each piece: data is not copied, and whole tensors are compared."""
        places = {piece: self._holding(piece) for piece in wanted}
        names = list(dict.fromkeys(name for name, _ in places.values()))
        first: dict[str, str] = {}
        for place, name in enumerate(names):
            same = {other: self._alike(self.tensors[other], self.tensors[name]) for other in names[:place]}
            if None in same.values():
                return {}
            first[name] = next((first[other] for other, so in same.items() if so), name)
        return {piece: f"{first[name]} {offset}" for piece, (name, offset) in places.items()}

    def _holding(self, piece: Piece) -> tuple[str, int]:
        """The tensor that has a piece, and where in it that begins."""
        header = self._shard.header
        assert header is not None
        start = piece.begin - LENGTH_BYTES - header.length
        tensors = header.tensors.items()
        return next((name, start - entry.begin) for name, entry in tensors if entry.begin <= start < entry.end)

    def close(self) -> None:
        """Nothing is open."""


def _shard(tensors: Mapping[str, Any]) -> Shard:
    entries, end = {}, 0
    for name, tensor in tensors.items():
        shape, dtype = _facts(name, tensor)
        known = stored_as(dtype)
        if known is None:
            raise ValueError(f"{printable(str(name))}: safetensors has no dtype {printable(dtype, 60)}.")
        code, bits = known
        elements = 1
        for size in shape:
            elements *= size
        begin, end = end, end + (elements * bits + 7) // 8
        entries[name] = {"dtype": code, "shape": shape, "data_offsets": [begin, end]}
    raw = json.dumps(entries).encode()
    first = len(raw).to_bytes(LENGTH_BYTES, "little") + raw
    return read_shard(SINGLE, len(first) + end, first)


def _facts(name: object, tensor: Any) -> tuple[list[int], str]:
    if not isinstance(name, str):
        raise TypeError(f"the name {typed(name)} must be a str.")
    is_pair = isinstance(tensor, tuple | list) and len(tensor) == 2
    facts: Any = tensor if is_pair else (getattr(tensor, "shape", None), getattr(tensor, "dtype", None))
    shape, dtype = facts
    try:
        sizes = [int(size) for size in shape]
    except (TypeError, ValueError):
        sizes = [-1]
    if dtype is None or min(sizes, default=0) < 0:
        must = "must be (shape, dtype), or have a shape and a dtype"
        raise TypeError(f"{printable(name)} is {typed(tensor)}, and {must}.")
    return sizes, str(dtype)
