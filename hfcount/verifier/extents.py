"""How large each file must be, by the tensors that the index puts there: 8 bytes, a header, the data.

The format's README says what a header holds: for each tensor its name, dtype, shape and two offsets as JSON. Their
digits and what else a writer adds are not known, so a header has bounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hfcount.formats.safetensors import LENGTH_BYTES
from hfcount.storage.dtypes import BITS
from hfcount.tree.leaves import Leaf
from hfcount.verifier.names import Match
from hfcount.verifier.sizes import Reading

SPARE = 1_024
"""Bytes that a header may have beyond what its tensors need, for `__metadata__` and padding."""

_ENTRY = len('"":{"dtype":"","shape":[],"data_offsets":[,]},')
_BLANKS = 8  # that a writer may put after colons and commas of an entry, besides one for each side of its shape


@dataclass(slots=True)
class Extent:
    """One file's tensors, the bytes of their data, and the fewest and the most bytes of their entries in the header."""

    tensors: int = 0
    data: int = 0
    fewest: int = 0
    most: int = 0

    @property
    def least(self) -> int:
        """The fewest bytes that the file can have."""
        return LENGTH_BYTES + len("{}") - 1 + self.fewest - (_digits(self.data) - 1) + self.data

    @property
    def greatest(self) -> int:
        """The most bytes that the file has unless its writer adds more than SPARE."""
        return LENGTH_BYTES + len("{}") + self.most + 2 * self.tensors * _digits(self.data) + SPARE + self.data


def extents(match: Match, weight_map: Mapping[str, str], reading: Reading) -> dict[str, Extent]:
    """The extent of each file, by its name; tensors that are no leaf's are left out.

    Args:
        match: of the index's names, with their files.
        reading: the widths that make total_size come out exactly.
    """
    found: dict[str, Extent] = {}
    rows = [(leaf, files) for (leaf, _), files in zip(match.listed, match.files, strict=True)]
    rows += [(leaf, {weight_map[leaf.name]: 1}) for leaf in match.heads]
    # Names that are stored in another spelling are so much shorter or longer.
    longer = [len(name) - len(expected) for name, expected in match.renamed] + [0]
    shortest, longest = min(longer), max(longer)
    for leaf, files in rows:
        if not files:
            continue
        width = reading.buffer_width if leaf.kind == "buffer" else reading.width
        data, (fewest, most) = leaf.size * width, _entry(leaf, width)
        for file, count in files.items():
            one = found.get(file)
            if one is None:
                one = found[file] = Extent()
            one.tensors += count
            one.data += count * data
            one.fewest += count * (fewest + shortest)
            one.most += count * (most + longest)
    return found


def _entry(leaf: Leaf, width: int) -> tuple[int, int]:
    """The fewest and the most bytes of a tensor's entry, of the latter all but its offsets.

    A tensor ends at its own size at the least, and each begins where another ends, or at 0: so there are about twice
    the digits of its size.
    """
    name = sum(len(part) for part in leaf.segments if isinstance(part, str)) + len(leaf.segments) - 1
    shape = sum(len(str(int(side))) + 1 for side in leaf.shape) - (1 if leaf.shape else 0)
    dtypes = [len(name) for name, bits in BITS.items() if bits == 8 * width]
    fewest = _ENTRY + name + shape + min(dtypes) + 2 * _digits(leaf.size * width)
    most = _ENTRY + name + shape + max(dtypes) + _BLANKS + len(leaf.shape)
    for numbers in leaf.indices:
        fewest += _digits(numbers.base[0])
        most += _digits(numbers.base[-1])
    return fewest, most


def _digits(number: int) -> int:
    return len(str(number))
