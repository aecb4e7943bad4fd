"""The closed form of a model's parameters: in the literature's symbols, with numbers, and where each symbol is from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from pydantic import BaseModel

from hfcount.spec import Layers, Spec
from hfcount.spec.names import made_of
from hfcount.tree.block import Role
from hfcount.tree.dims import (
    Atom,
    Dim,
    Monomial,
    Polynomial,
    add,
    atoms,
    divide,
    polynomial,
    render,
    render_factored,
)
from hfcount.tree.indices import Indices
from hfcount.tree.leaves import Leaf

# So that the whole reads as it is taught: what is multiplied by the layers begins with their norms.
_ORDER: tuple[Role, ...] = ("embedding", "lm_head", "norm", "mlp", "router", "experts", "attention")

Share = Mapping[Role, Polynomial]
"""Polynomials by component."""


class Kind(NamedTuple):
    """Layers that have the same parameters: what they are made of, which, how many, and one of them by component."""

    name: str
    numbers: str
    layers: int
    parts: Share
    active: Share

    @property
    def where(self) -> str:
        """Which layers, in words: `layer 0`, `layers 1-60`."""
        return _which(self.numbers, self.layers)

    @property
    def active_terms(self) -> Polynomial:
        """What a token passes through of one layer."""
        return _sum(self.active)

    @property
    def terms(self) -> Polynomial:
        """One layer."""
        return _sum(self.parts)


class Formula:
    """`total` and `active` as polynomials; a symbol with two values becomes two symbols.

    `components` and `active_components` are in the order of the model, `kinds` are its layers; `keys` says where the
    value of a symbol is from: the config's keys, or the layers that it counts.

    Args:
        leaves: the parameters.
    """

    def __init__(self, spec: Spec, leaves: Sequence[Leaf]) -> None:
        counts = _Counts(spec.layers, "all layers of the decoder" if spec.encoder else "all layers")
        whole = _Split(counts, ((leaf.role, leaf.formula) for leaf in leaves))
        active = _Split(counts, ((leaf.role, leaf.active_formula) for leaf in leaves))
        self.kinds = _kinds(spec.layers, whole.layers, active.layers)
        self.components, self.active_components = whole.gathered(), active.gathered()
        self.total, self.active = _sum(self.components), _sum(self.active_components)
        self.names = _names(atoms(self.total) | atoms(self.active))
        self._numbers = {atom: f"{atom.value:,}" for atom in self.names}
        sources = _sources(spec) | counts.sources()
        self.keys = {name: sources.get(atom, "worked out of the others") for atom, name in self.names.items()}

    def text(self, terms: Polynomial) -> str:
        """A polynomial of this formula with symbols."""
        return render_factored(terms, self.names)

    def plain(self, terms: Polynomial) -> str:
        """The same without drawing anything out: the terms of one layer."""
        return render(terms, self.names)

    def numbers(self, terms: Polynomial, whole: bool = True) -> str:
        """The same with numbers in place of symbols; the terms of one layer when not `whole`."""
        return (render_factored if whole else render)(terms, self._numbers)

    @property
    def legend(self) -> dict[str, int]:
        """The value of each symbol."""
        return {name: int(atom.value) for atom, name in self.names.items()}

    def __str__(self) -> str:
        return self.text(self.total)


class _Counts:
    """Numbers of layers: N counts all, N1, N2, ... those of some kinds, in the order of the first of them."""

    def __init__(self, layers: Sequence[Layers], every: str) -> None:
        self.layers, self._all = layers, every
        self._places = {
            count: place for place, part in enumerate(layers) for count in atoms(polynomial(part.indices.count))
        }
        self._every = frozenset(range(len(layers)))
        self._sets: set[frozenset[int]] = set()
        self._symbols: dict[frozenset[int], Atom] = {}

    def place(self, monomial: Monomial) -> tuple[int, Monomial] | None:
        """Which kind of layer a term is of, and the term of one layer; None outside of the layers."""
        for atom in monomial:
            if atom in self._places:
                return self._places[atom], divide(monomial, [atom])
        return None

    def add(self, places: frozenset[int]) -> None:
        """Makes a symbol for the number of layers of these kinds."""
        self._sets.add(places)
        self._symbols.clear()  # they are numbered in order, so only once all are known

    def atom(self, places: frozenset[int]) -> Atom:
        """The number of layers of these kinds."""
        if not self._symbols:
            some = sorted(self._sets - {self._every}, key=sorted)
            names = {self._every: "N"} | {own: f"N{number}" for number, own in enumerate(some, 1)}
            self._symbols = {own: Atom(name, self._count(own)) for own, name in names.items()}
        return self._symbols[places]

    def sources(self) -> dict[Atom, str]:
        """What each symbol counts."""
        alone = self.layers[0].indices.count if len(self.layers) == 1 else None
        key = getattr(alone, "source", "") or self._all
        return {
            self.atom(places): key if places == self._every else _which(_numbers(self._of(places)), self._count(places))
            for places in self._sets
        }

    def _of(self, places: frozenset[int]) -> list[Indices]:
        return [self.layers[place].indices for place in sorted(places)]

    def _count(self, places: frozenset[int]) -> int:
        return sum(int(part.count) for part in self._of(places))


class _Split:
    """Terms by component, those of one layer of each kind apart from those outside of the layers."""

    def __init__(self, counts: _Counts, values: Iterable[tuple[Role, int]]) -> None:
        self._counts = counts
        self._alone: dict[Role, Polynomial] = {}
        self.layers: list[dict[Role, Polynomial]] = [{} for _ in counts.layers]
        for role, value in values:
            self._alone.setdefault(role, {})
            for monomial, coefficient in polynomial(value).items():
                found = counts.place(monomial)
                home, rest = (self.layers[found[0]], found[1]) if found else (self._alone, monomial)
                home[role] = add(home.get(role, {}), {rest: coefficient})
        self._owners = {role: self._owners_of(role) for role in self._alone}
        for owners in self._owners.values():
            for places in owners.values():
                counts.add(frozenset(places))

    def gathered(self) -> dict[Role, Polynomial]:
        """By component, every term once, multiplied by the number of all layers that have it."""
        return {
            role: add(
                {
                    (self._counts.atom(frozenset(places)), *monomial): coefficient
                    for (monomial, coefficient), places in self._owners[role].items()
                },
                alone,
            )
            for role, alone in self._alone.items()
        }

    def _owners_of(self, role: Role) -> dict[tuple[Monomial, int], list[int]]:
        owners: dict[tuple[Monomial, int], list[int]] = {}
        for place, share in enumerate(self.layers):
            for term in share.get(role, {}).items():
                owners.setdefault(term, []).append(place)
        return owners


def _kinds(layers: Sequence[Layers], shares: Sequence[Share], active: Sequence[Share]) -> list[Kind]:
    alike: dict[object, list[int]] = {}
    for place, both in enumerate(zip(shares, active, strict=True)):
        alike.setdefault(tuple(_frozen(share) for share in both), []).append(place)
    return [
        Kind(
            " or ".join(dict.fromkeys(made_of(layers[place].layer) for place in places)),
            _numbers([layers[place].indices for place in places]),
            sum(int(layers[place].indices.count) for place in places),
            shares[places[0]],
            active[places[0]],
        )
        for places in alike.values()
    ]


def _frozen(share: Share) -> object:
    return frozenset((role, frozenset(terms.items())) for role, terms in share.items())


def _which(numbers: str, count: int) -> str:
    return f"layer{'s' if count > 1 else ''} {numbers}"


def _numbers(parts: Sequence[Indices]) -> str:
    if len(parts) > 1 and all(len(part.base) <= 10_000 for part in parts):
        return str(Indices.of(number for part in parts for number in part))
    return ",".join(map(str, parts))


def _place(role: Role) -> int:
    return _ORDER.index(role) if role in _ORDER else len(_ORDER)


def _sum(parts: Share) -> Polynomial:
    """All components together, in the order of the textbooks."""
    total: Polynomial = {}
    for role in sorted(parts, key=_place):
        total = add(total, parts[role])
    return total


def _names(found: Iterable[Atom]) -> dict[Atom, str]:
    """What each symbol is called: one with several values becomes several, by their size."""
    rivals = {symbol: list(group) for symbol, group in groupby(sorted(found), key=lambda atom: atom.symbol)}
    return {
        atom: symbol if len(group) == 1 else f"{symbol}{place}"
        for symbol, group in rivals.items()
        for place, atom in enumerate(group, 1)
    }


def _sources(spec: Spec) -> dict[Atom, str]:
    """Where each symbol's value was read, as far as the spec's numbers know."""
    found: dict[Atom, dict[str, None]] = {}
    for dim in _dims(spec):
        for atom in atoms(dim.terms) if dim.source else ():
            found.setdefault(atom, {})[dim.source] = None
    for part in spec.encoder:
        for atom in atoms(polynomial(part.indices.count)) - found.keys():
            found[atom] = {f"{_which(_numbers([part.indices]), int(part.indices.count))} of the encoder": None}
    return {atom: ", ".join(sources) for atom, sources in found.items()}


def _dims(value: object) -> Iterator[Dim]:
    if isinstance(value, Dim):
        yield value
    elif isinstance(value, Indices):
        yield from _dims(value.count)
    elif isinstance(value, BaseModel):
        for _, field in value:
            yield from _dims(field)
    elif isinstance(value, tuple | Mapping):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _dims(part)
