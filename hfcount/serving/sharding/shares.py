"""What one rank holds of each tensor, by the sizes that the tensor's extents are made of."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from hfcount.blueprints.blueprint import Blueprint
from hfcount.serving.sharding.sizes import TOWERS, Shared, padded, sizes, stacks
from hfcount.spec import GQA, ShortConv
from hfcount.spec.tree.dims import polynomial
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.polynomials import Atom, Polynomial

Segments = tuple[str | Indices, ...]

Values = Mapping[Atom, int]
"""What a rank has of a size, by its symbol."""

_WHOLE = (*TOWERS, "projector", "router")
"""Components that every rank holds whole."""

_WORDS = re.compile(r"(^|\.)vocab_size")


def shares(blueprint: Blueprint, ranks: int, leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves with the extents that one rank has; the ranks must be able to share every size."""
    known = values(sizes(blueprint), ranks)
    plain = _plain(blueprint, leaves)
    return [_share(leaf, known, plain.get(leaf.segments), ranks) for leaf in leaves]


def values(shared: Iterable[Shared], ranks: int) -> dict[Atom, int]:
    """What a rank has of each size."""
    rank_values = {size.atom: size.of(ranks) for size in shared if size.where != "ShortConv"}
    return {atom: value for atom, value in rank_values.items() if atom is not None and value is not None}


def of_rank(terms: Polynomial, known: Values) -> int:
    """The value of a polynomial for one rank."""
    total = 0
    for monomial, product in terms.items():
        for atom in monomial:
            product *= known.get(atom, atom.value)
        total += product
    return total


def _share(leaf: Leaf, known: Values, plain: int | None, ranks: int) -> Leaf:
    if leaf.component in _WHOLE:
        return leaf
    shape = list(leaf.shape)
    if leaf.component == "embedding" and any(
        _WORDS.search(atom.source) for extent in shape[:1] for atom in _atoms(extent)
    ):
        shape[0] = padded(int(shape[0]), ranks) // ranks  # also of a second table of words
        return leaf.replace(shape=tuple(shape))
    place = next((place for place, extent in enumerate(shape) if _atoms(extent) & known.keys()), plain)
    if place is None:
        return leaf
    terms = polynomial(shape[place])
    if place == plain or any(times < 0 for times in terms.values()):  # a rest, of what is all split
        shape[place] = int(shape[place]) // ranks
    else:
        shape[place] = of_rank(terms, known)
    return leaf.replace(shape=tuple(shape))


def _atoms(extent: int) -> set[Atom]:
    return {atom for monomial in polynomial(extent) for atom in monomial}


def _plain(blueprint: Blueprint, leaves: Sequence[Leaf]) -> dict[Segments, int]:
    """The split extents of maps of attention and of short convolutions that are made of the model's own width alone.

    Of those in one block the last leads out of the heads and is split along its inputs, the others along their outputs.
    """
    widths: set[Atom] = set()
    for stack in stacks(blueprint.spec):
        for part in stack.layers:
            mixer = part.layer.mixer
            if isinstance(mixer, ShortConv | GQA):
                widths |= _atoms(stack.hidden)
    blocks: dict[Segments, list[Leaf]] = {}
    for leaf in leaves:
        if leaf.component in ("attention", "convolution") and _made_of(leaf.shape[:1], widths):
            blocks.setdefault(_block(leaf), []).append(leaf)
    split: dict[Segments, int] = {}
    for several in blocks.values():
        square = [leaf for leaf in several if len(leaf.shape) == 2 and _made_of(leaf.shape, widths)]
        for leaf in square:  # (outputs, inputs) where it is linear
            split[leaf.segments] = int(leaf.linear == (leaf is square[-1]))
        inner = {leaf.segments[:-1] for leaf in square[:-1]}
        for leaf in several:
            if leaf.segments[:-1] in inner or (leaf.component == "convolution" and leaf not in square):
                split.setdefault(leaf.segments, 0)
    return split


def _made_of(extents: Sequence[int], atoms: Collection[Atom]) -> bool:
    """Whether each of these extents is some times one of these sizes."""
    terms = [monomial for extent in extents for monomial in polynomial(extent)]
    return bool(terms) and all(len(monomial) == 1 and monomial[0] in atoms for monomial in terms)


def _block(leaf: Leaf) -> Segments:
    """The name of the block of a layer that a leaf is in: up to what follows the layer's number."""
    numbers = [place for place, segment in enumerate(leaf.segments) if isinstance(segment, Indices)]
    return leaf.segments[: (numbers[0] + 2 if numbers else 1)]
