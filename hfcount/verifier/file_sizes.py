"""Bounds on the size of each weight file, by the tensors that the index lists for it: 8 bytes, a header, the data.

A header holds the name, dtype, shape and two offsets of each tensor as JSON. The digits of offsets and further
metadata are unknown, so that the size of a header has a minimum and a maximum. Source: safetensors, README.md.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from hfcount.formats.dtypes import BITS
from hfcount.formats.safetensors import LENGTH_BYTES
from hfcount.record import State
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.comparison import Comparison

SPARE = 1_024
"""Bytes that a header may have beyond what its tensors need, for `__metadata__` and padding."""

_ENTRY = len('"":{"dtype":"","shape":[],"data_offsets":[,]},')
_BLANKS = 8  # that a writer may put after colons and commas of an entry, besides one for each side of its shape


class Extent(State, kw_only=False):
    """The tensors of one file: their number, bytes of data, and the fewest and most bytes of their header entries.

    `manifest` is how many bytes its metadata has at the most because of the scheme of packed weights.
    """

    tensors: int = 0
    data: int = 0
    fewest: int = 0
    most: int = 0
    manifest: int = 0

    @property
    def least(self) -> int:
        """The fewest bytes that the file can have."""
        return LENGTH_BYTES + len("{}") - 1 + self.fewest - (_digits(self.data) - 1) + self.data

    @property
    def greatest(self) -> int:
        """The most bytes that the file has unless its writer adds more than SPARE."""
        spare = SPARE + self.manifest
        return LENGTH_BYTES + len("{}") + self.most + 2 * self.tensors * _digits(self.data) + spare + self.data


def extents(c: Comparison, weight_map: Mapping[str, str]) -> dict[str, Extent] | None:
    """The extent of each file, by its name; None where the dtypes of its tensors are not known.

    A leaf that the names of an index spell otherwise counts by the names that are listed.
    """
    reading = c.packed.reading if c.packed else c.reading
    if reading is None:
        return None
    by_file: dict[str, Extent] = {}
    # Names that are stored in another spelling are so much shorter or longer.
    longer = [len(name) - len(wanted) for wanted, name in c.spelling.items()] + [0]
    shortest, longest = min(longer), max(longer)
    for leaf, files in _places(c, weight_map):
        bits = reading.bits(leaf)
        data, (fewest, most) = leaf.size * bits // 8, _entry(leaf, bits)
        for file, count in files.items():
            if file is None:
                continue
            extent = by_file.get(file)
            if extent is None:
                extent = by_file[file] = Extent()
            extent.tensors += count
            extent.data += count * data
            extent.fewest += count * (fewest + shortest)
            extent.most += count * (most + longest)
    if c.packed and (each := c.packed.scheme.manifest):  # of all tensors of the model, in every file
        manifest = sum(other.most + each * other.tensors for other in by_file.values())
        for extent in by_file.values():
            extent.manifest = manifest
    return by_file


def _places(c: Comparison, weight_map: Mapping[str, str]) -> Iterator[tuple[Leaf, Mapping[str | None, int]]]:
    """How many tensors of each leaf are in which file."""
    match, spelling = c.match, c.spelling
    for place, (leaf, count) in enumerate(match.listed):
        if count and match.files:
            yield leaf, match.files[place]
        elif count:
            yield leaf, Counter(weight_map.get(spelling.get(name, name)) for name in match.names(leaf))
    for leaf in match.heads:
        yield leaf, {weight_map.get(spelling.get(leaf.name, leaf.name)): 1}


def _entry(leaf: Leaf, bits: int) -> tuple[int, int]:
    """The fewest and the most bytes of a tensor's entry, of the latter all but its offsets.

    A tensor ends at its own size at the least, and each begins where another ends, or at 0: so there are about twice
    the digits of its size.
    """
    name = sum(len(part) for part in leaf.segments if isinstance(part, str)) + len(leaf.segments) - 1
    shape = sum(len(str(int(side))) + 1 for side in leaf.shape) - (1 if leaf.shape else 0)
    dtypes = [len(dtype) for dtype, size in BITS.items() if size == bits]
    fewest = _ENTRY + name + shape + min(dtypes) + 2 * _digits(leaf.size * bits // 8)
    most = _ENTRY + name + shape + max(dtypes) + _BLANKS + len(leaf.shape)
    for numbers in leaf.indices:
        fewest += _digits(numbers.base[0])
        most += _digits(numbers.base[-1])
    return fewest, most


def _digits(number: int) -> int:
    return len(str(number))
