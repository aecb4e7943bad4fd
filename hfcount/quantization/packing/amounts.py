"""Number, dtypes and bytes of stored tensors."""

from collections.abc import Iterable
from dataclasses import dataclass

from hfcount.formats.dtypes import BITS
from hfcount.spec.tree.leaves import Leaf


@dataclass(frozen=True, slots=True)
class Amount:
    """Tensors, elements by dtype, and bytes; `window` is by how many bytes there may be fewer."""

    tensors: int
    dtypes: dict[str, int]
    window: int = 0

    @property
    def bytes(self) -> int:
        """Bytes of all elements."""
        return sum(elements * BITS[dtype] // 8 for dtype, elements in self.dtypes.items())


def amount(leaves: Iterable[Leaf], dtype: str) -> Amount:
    """Sums up the leaves that a checkpoint must hold.

    Args:
        dtype: of dense weights; a router's correction bias stays F32.
    """
    tensors = window = 0
    sums: dict[str, int] = {}
    for leaf in leaves:
        if leaf.dtypes:
            stored_dtype = leaf.dtypes[0]
        else:
            stored_dtype = "F32" if leaf.kind == "buffer" and "correction_bias" in str(leaf.segments[-1]) else dtype
        tensors += int(leaf.count)
        window += int(leaf.count) * leaf.slack
        sums[stored_dtype] = sums.get(stored_dtype, 0) + leaf.elements
    return Amount(
        tensors, {name: sums[name] for name in sorted(sums, key=lambda other: -sums[other]) if sums[name]}, window
    )
