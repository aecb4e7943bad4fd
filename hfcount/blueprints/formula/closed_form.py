"""The closed form of a model's parameters: in the literature's symbols, with numbers, and where each symbol is from."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hfcount.blueprints.formula.gathering import Counts, Share, Split, numbered, which
from hfcount.blueprints.formula.latex import latex
from hfcount.spec import Layers, Spec
from hfcount.spec.names import made_of
from hfcount.spec.tree.dims import has_key, polynomial
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.nodes import Component
from hfcount.spec.tree.polynomials import Atom, Polynomial, add, atoms, render, render_factored

# The order of components in the whole formula, as in textbooks; all others come last.
_ORDER: tuple[Component, ...] = ("embedding", "lm_head", "norm", "mlp", "router", "experts", "attention")


class LayerTerms(NamedTuple):
    """Layers with the same parameters: their parts, their numbers, how many they are, and one layer by component."""

    name: str
    numbers: str
    layers: int
    parts: Share
    active: Share

    @property
    def where(self) -> str:
        """Which layers, in words: `layer 0`, `layers 1-60`."""
        return which(self.numbers, self.layers)

    @property
    def active_terms(self) -> Polynomial:
        """Parameters of one layer that a token uses."""
        return _sum(self.active)

    @property
    def terms(self) -> Polynomial:
        """Parameters of one layer."""
        return _sum(self.parts)


class Formula:
    """`total` and `active` as polynomials; a symbol with two values, or from two keys, becomes two.

    `components` and `active_components` are in the order of the model, `kinds` are its layers; `keys` is where the
    value of each symbol is from, in the grammar of hfcount.report.figures.ClosedForm.
    """

    def __init__(self, spec: Spec, leaves: Sequence[Leaf]) -> None:
        total = spec.layer_count
        counts = Counts(spec.layers, total if total == spec.depth and has_key(total) else spec.depth)
        split = Split(counts, ((leaf.component, leaf.formula) for leaf in leaves))
        active = Split(counts, ((leaf.component, leaf.active_formula) for leaf in leaves))
        self.kinds = _kinds(spec.layers, split.layers, active.layers)
        self.components, self.active_components = split.combined(), active.combined()
        self.total, self.active = _sum(self.components), _sum(self.active_components)
        self.names = _names(atoms(self.total) | atoms(self.active))
        self._numbers = {atom: f"{atom.value:,}" for atom in self.names}
        within = {
            atom: f"{which(numbered([part.indices]), atom.value)} of the {name}"
            for name, inner in _inside(spec)
            for part in inner.layers
            if not part.indices.is_computed
            for atom in atoms(polynomial(part.indices.count))
        }
        self.keys = {name: within.get(atom, atom.source) for atom, name in self.names.items()}

    def text(self, terms: Polynomial) -> str:
        """A polynomial of this formula in symbols, factored."""
        return render_factored(terms, self.names)

    def plain(self, terms: Polynomial) -> str:
        """A polynomial in symbols without factoring, for the terms of one layer."""
        return render(terms, self.names)

    def numbers(self, terms: Polynomial, whole: bool = True) -> str:
        """A polynomial with numbers in place of symbols; without factoring unless `whole`."""
        return (render_factored if whole else render)(terms, self._numbers)

    def __repr__(self) -> str:
        return f"<Formula {self.text(self.total)}>"

    def _repr_latex_(self) -> str:
        """The formula as notebooks show it."""
        return f"$${latex(self.text(self.total))}$$"

    @property
    def legend(self) -> dict[str, int]:
        """The value of each symbol."""
        return {name: int(atom.value) for atom, name in self.names.items()}

    def __str__(self) -> str:
        return self.text(self.total)


def _inside(spec: Spec) -> Iterator[tuple[str, Spec]]:
    """The parts of a model and theirs, by name."""
    for name, part in spec.parts.items():
        yield name, part
        yield from _inside(part)


def _kinds(layers: Sequence[Layers], shares: Sequence[Share], active: Sequence[Share]) -> list[LayerTerms]:
    alike: dict[object, list[int]] = {}
    for place, both in enumerate(zip(shares, active, strict=True)):
        alike.setdefault(tuple(_hashable(share) for share in both), []).append(place)
    return [
        LayerTerms(
            " or ".join(dict.fromkeys(made_of(layers[place].layer) for place in places)),
            numbered([layers[place].indices for place in places]),
            sum(int(layers[place].indices.count) for place in places),
            shares[places[0]],
            active[places[0]],
        )
        for places in alike.values()
    ]


def _hashable(share: Share) -> object:
    return frozenset((component, frozenset(terms.items())) for component, terms in share.items())


def _place(component: Component) -> int:
    return _ORDER.index(component) if component in _ORDER else len(_ORDER)


def _sum(parts: Share) -> Polynomial:
    """The sum of all components, in the order of _ORDER."""
    total: Polynomial = {}
    for component in sorted(parts, key=_place):
        total = add(total, parts[component])
    return total


def _names(symbols: Iterable[Atom]) -> dict[Atom, str]:
    """The name of each symbol; one with several values gets numbered names, by value."""
    rivals = {symbol: list(group) for symbol, group in groupby(sorted(symbols), key=lambda atom: atom.symbol)}
    return {
        atom: symbol if len(group) == 1 else f"{symbol}{place}"
        for symbol, group in rivals.items()
        for place, atom in enumerate(group, 1)
    }
