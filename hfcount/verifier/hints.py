"""Which config value would fit what was found."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hfcount.tree.dims import Atom, Dim, Polynomial, atoms, polynomial
from hfcount.tree.leaves import Leaf, is_index

# What each symbol is called in most configs.
_KEYS = {
    "|V|": "vocab_size",
    "d": "hidden_size",
    "h": "num_attention_heads",
    "h_kv": "num_key_value_heads",
    "h_d": "head_dim",
    "d_ff": "intermediate_size",
    "n": "the number of experts",
    "c": "the number of labels",
}


class Hint(NamedTuple):
    """A key of the config, the value it was read as, and the one that would fit what was found."""

    key: str
    read: int
    fits: int

    def __str__(self) -> str:
        return f"{self.key} was read as {self.read:,}, and {self.fits:,} would fit."


def layers(leaves: Iterable[Leaf], names: Iterable[str]) -> Hint | None:
    """The number of layers, where the checkpoint has another than the config; else None."""
    stacks = {leaf.segments[: _place(leaf)] for leaf in leaves if _place(leaf)}
    read = sum(int(count) for count in {_first(leaf): _count(leaf) for leaf in leaves if _place(leaf)}.values())
    found = 0
    for stack in stacks:
        prefix = ".".join(map(str, stack)) + "."
        numbers = {name[len(prefix) :].partition(".")[0] for name in names if name.startswith(prefix)}
        listed = {int(number) for number in numbers if is_index(number)}
        if listed and len(listed) == max(listed) + 1:  # without a gap, so that it could be a model
            found = max(found, len(listed))
    if found and found != read:
        return Hint("num_hidden_layers", read, found)
    return None


def shape(leaf_shapes: Sequence[tuple[Leaf, tuple[int, ...]]], agreeing: Iterable[Leaf]) -> list[Hint]:
    """The one config value that would fit every shape that was found; none when there is none.

    Args:
        leaf_shapes: leaves whose stored tensors have another shape, with that shape.
        agreeing: leaves whose stored tensors have the shape of the blueprint.
    """
    settled = list(agreeing)
    for atom, value in _candidates(*leaf_shapes[0]):
        swap = {atom: value}
        if all(_shape(leaf, swap) == found for leaf, found in leaf_shapes) and all(
            _shape(leaf, swap) == leaf.shape for leaf in settled
        ):
            return [Hint(_KEYS.get(atom.symbol, atom.symbol), atom.value, value)]
    return []


def _candidates(leaf: Leaf, found: tuple[int, ...]) -> Iterable[tuple[Atom, int]]:
    if len(leaf.shape) != len(found):
        return
    for expected, size in zip(leaf.shape, found, strict=True):
        if expected == size or not isinstance(expected, Dim):
            continue
        for atom in sorted(atoms(polynomial(expected))):
            # Only a plain product can be solved for one of its factors.
            if len(expected.terms) == 1 and expected and size * atom.value % expected == 0:
                yield atom, size * atom.value // int(expected)


def _shape(leaf: Leaf, swap: Mapping[Atom, int]) -> tuple[int, ...]:
    return tuple(_value(polynomial(size), swap) for size in leaf.shape)


def _value(terms: Polynomial, swap: Mapping[Atom, int]) -> int:
    total = 0
    for monomial, product in terms.items():
        for atom in monomial:
            product *= swap.get(atom, atom.value)
        total += product
    return total


def _place(leaf: Leaf) -> int:
    """Where the name's first index stands, 0 when it has none."""
    return next((place for place, segment in enumerate(leaf.segments) if not isinstance(segment, str)), 0)


def _first(leaf: Leaf) -> object:
    return leaf.segments[_place(leaf)]


def _count(leaf: Leaf) -> int:
    return int(getattr(_first(leaf), "count", 0))
