"""The locations of tensors in files."""

from collections.abc import Mapping
from typing import NamedTuple

from hfcount.formats.dtypes import BITS
from hfcount.formats.gguf.types import BLOCKS
from hfcount.formats.safetensors import LENGTH_BYTES, Entry, Shard


class TensorLocation(NamedTuple):
    """The location of a tensor: its file, and the first byte of its data there."""

    file: str
    begin: int
    entry: Entry

    @property
    def size(self) -> int:
        """Bytes of its data."""
        return self.entry.end - self.entry.begin

    @property
    def row(self) -> int:
        """Bytes of a row of a matrix; 0 if it is none."""
        shape = self.entry.shape
        return self.size // shape[0] if len(shape) == 2 and all(size > 1 for size in shape) else 0


def places(shards: Mapping[str, Shard]) -> dict[str, TensorLocation]:
    """The location of each tensor; the last file wins if two have it."""
    locations = {}
    for name, shard in sorted(shards.items()):
        if shard.header:
            start = LENGTH_BYTES + shard.header.length
            for tensor, entry in shard.header.tensors.items():
                locations[tensor] = TensorLocation(name, start + entry.begin, entry)
    return locations


def elements(dtype: str, size: int) -> int:
    """The elements in so many bytes."""
    block = BLOCKS.get(dtype)
    return size // block.bytes * block.block if block else size * 8 // BITS[dtype]
