"""Groups and blocks of quantised weights that ranks cannot share: each has one scale, which no two ranks can use."""

from collections.abc import Iterator, Sequence
from math import gcd
from typing import NamedTuple

from hfcount.quantization.layout import Layout
from hfcount.quantization.packing.expected import Planned, planned
from hfcount.quantization.packing.stacks import matrix, transposed
from hfcount.quantization.scheme import Scheme
from hfcount.serving.sharding.shares import of_rank
from hfcount.spec.tree.dims import has_key, origin, polynomial
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.polynomials import Atom, Monomial, Polynomial


class Cut(NamedTuple):
    """A group or block that is cut: of `whole` inputs or outputs of a module a rank has `part`.

    Args:
        size: of a group along that side; all of a row where they are one group.
        inputs: whether it is cut along the inputs.
    """

    leaf: Leaf
    layout: Layout
    whole: int
    part: int
    size: int
    inputs: bool

    @property
    def key(self) -> str | None:
        """What gives the size in the config; None if no key does."""
        return origin(self.whole) if has_key(self.whole) else None


def cuts(leaves: Sequence[Leaf], shares: Sequence[Leaf], scheme: Scheme, known: dict[Atom, int]) -> list[Cut]:
    """The groups and blocks that are cut, one for each size and side.

    Args:
        leaves: those of the model.
        own: the same with the extents of one rank.
        known: what a rank has of each size.
    """
    by_size: dict[tuple[int, int, int, bool], Cut] = {}
    turned, less = transposed(leaves), transposed(shares)
    for module, rank in zip(planned(leaves, scheme), planned(shares, scheme), strict=True):
        layout = module.choice.layout if module.choice else None
        if layout is not None:
            full = matrix(module.leaf, module.leaf.segments[:-1] in turned)
            part = matrix(rank.leaf, rank.leaf.segments[:-1] in less)
            for cut in _cut(module, layout, full, part, known):
                by_size.setdefault((int(cut.whole), cut.part, cut.size, cut.inputs), cut)
    return list(by_size.values())


def _cut(
    module: Planned, layout: Layout, full: tuple[int, int], part: tuple[int, int], known: dict[Atom, int]
) -> Iterator[Cut]:
    outputs, inputs = layout.grain
    size = inputs or int(full[1])
    if part[1] != full[1] and size < full[1] + (inputs == 0) and part[1] % size:
        yield Cut(module.leaf, layout, full[1], int(part[1]), size, True)
    if part[0] != full[0]:
        pieces = list(_pieces(full[0], known)) or [(full[0], int(part[0]))]
        for all_of_it, piece in pieces:
            if piece % outputs:
                yield Cut(module.leaf, layout, all_of_it, piece, outputs, False)


def _pieces(extent: int, known: dict[Atom, int]) -> Iterator[tuple[int, int]]:
    """The maps that are joined in one, as queries, keys and values are: outputs of each, in all and for one rank."""
    parts: dict[Atom | None, Polynomial] = {}
    for monomial, times in polynomial(extent).items():
        parts.setdefault(_shared(monomial, known), {})[monomial] = times
    for atom, terms in parts.items():
        if atom is not None:
            times = gcd(*terms.values())
            share = of_rank(terms, known) // times
            yield extent if len(parts) == times == 1 else of_rank(terms, {}) // times, share


def _shared(monomial: Monomial, known: dict[Atom, int]) -> Atom | None:
    return next((atom for atom in monomial if atom in known), None)
