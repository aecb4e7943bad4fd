"""Terms combined over layers: one that several kinds of layers share is written once, times their number."""

from collections.abc import Iterable, Mapping, Sequence

from hfcount.spec import Layers
from hfcount.spec.tree.dims import Dim, has_key, origin, polynomial, unnamed
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Component
from hfcount.spec.tree.polynomials import Atom, Monomial, Polynomial, add, atoms, divide

Share = Mapping[Component, Polynomial]
"""Polynomials by component."""


class Counts:
    """Symbols for numbers of layers: N counts all, N1, N2, ... those of some kinds, ordered by the first kind."""

    def __init__(self, layers: Sequence[Layers], depth: int) -> None:
        self.layers, self._depth = layers, depth
        self._places = {
            count: place for place, part in enumerate(layers) for count in atoms(polynomial(part.indices.count))
        }
        self._every = frozenset(range(len(layers)))
        self._sets: set[frozenset[int]] = set()
        self._symbols: dict[frozenset[int], Atom] = {}

    def place(self, monomial: Monomial) -> tuple[int, Monomial] | None:
        """The kind of layer that a term belongs to, and the term of one such layer; None outside of the layers."""
        for atom in monomial:
            if atom in self._places:
                return self._places[atom], divide(monomial, [atom])
        return None

    def add(self, places: frozenset[int]) -> None:
        """Registers a symbol for the number of layers of these kinds."""
        self._sets.add(places)
        self._symbols.clear()  # they are numbered in order, so only once all are known

    def atom(self, places: frozenset[int]) -> Atom:
        """The symbol for the number of layers of these kinds."""
        if not self._symbols:
            subsets = sorted(self._sets - {self._every}, key=sorted)
            names = {self._every: "N"} | {kinds: f"N{number}" for number, kinds in enumerate(subsets, 1)}
            self._symbols = {
                kinds: Atom(name, self._count(kinds), self._source(kinds)) for kinds, name in names.items()
            }
        return self._symbols[places]

    def _source(self, places: frozenset[int]) -> str:
        if places == self._every and has_key(self._depth):
            return origin(self._depth)
        parts, others, sources = self._of(places), self._of(self._every - places), list[str]()
        if all(part.is_computed for part in parts):
            sources.append(origin(_total(parts)))
        if has_key(self._depth) and all(part.is_computed for part in others):
            sources.append(origin(unnamed(self._depth) - _total(others)))
        words = "all layers" if places == self._every else which(numbered(parts), self._count(places))
        return min(sources, key=lambda source: len(source.partition(", ")[0]), default=words)

    def _of(self, places: frozenset[int]) -> list[Indices]:
        return [self.layers[place].indices for place in sorted(places)]

    def _count(self, places: frozenset[int]) -> int:
        return sum(int(part.count) for part in self._of(places))


def _total(parts: Sequence[Indices]) -> int:
    """How many layers these are, by the keys that the number of each is from."""
    total = sum((unnamed(part.count) for part in parts), start=Dim.of(0, {}))
    return total if atoms(polynomial(total)) else int(total)


class Split:
    """Terms by component, split into those of one layer of each kind and those outside of the layers."""

    def __init__(self, counts: Counts, values: Iterable[tuple[Component, int]]) -> None:
        self._counts = counts
        self._alone: dict[Component, Polynomial] = {}
        self.layers: list[dict[Component, Polynomial]] = [{} for _ in counts.layers]
        for component, value in values:
            self._alone.setdefault(component, {})
            for monomial, coefficient in polynomial(value).items():
                match = counts.place(monomial)
                home, rest = (self.layers[match[0]], match[1]) if match else (self._alone, monomial)
                home[component] = add(home.get(component, {}), {rest: coefficient})
        self._owners = {component: self._owners_of(component) for component in self._alone}
        for owners in self._owners.values():
            for places in owners.values():
                counts.add(frozenset(places))

    def combined(self) -> dict[Component, Polynomial]:
        """The terms of each component, each written once and multiplied by the number of layers that have it."""
        return {
            component: add(
                {
                    (self._counts.atom(frozenset(places)), *monomial): coefficient
                    for (monomial, coefficient), places in self._owners[component].items()
                },
                alone,
            )
            for component, alone in self._alone.items()
        }

    def _owners_of(self, component: Component) -> dict[tuple[Monomial, int], list[int]]:
        owners: dict[tuple[Monomial, int], list[int]] = {}
        for place, share in enumerate(self.layers):
            for term in share.get(component, {}).items():
                owners.setdefault(term, []).append(place)
        return owners


def which(numbers: str, count: int) -> str:
    """Layers in words: `layer 0`, `layers 1-60`."""
    return f"layer{'s' if count > 1 else ''} {numbers}"


def numbered(parts: Sequence[Indices]) -> str:
    """The numbers of several sets of layers as text, merged into one list unless a set is too large."""
    if len(parts) > 1 and all(len(part.base) <= 10_000 for part in parts):
        return str(Indices.of(number for part in parts for number in part))
    return ",".join(map(str, parts))
