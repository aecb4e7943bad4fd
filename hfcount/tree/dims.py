"""Sizes that remember their formula: an int that is also a polynomial in the literature's symbols."""

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

# In this order symbols stand within a product: layers and experts first, then heads, then widths.
_ORDER = {symbol: place for place, symbol in enumerate(("N", "n", "k", "h", "h_kv", "h_d", "d", "d_ff", "|V|", "c"))}


class Atom(NamedTuple):
    """A symbol with its value: two sizes called d_ff stay two symbols."""

    symbol: str
    value: int


Monomial = tuple[Atom, ...]
Polynomial = dict[Monomial, int]


class Dim(int):
    """A size in elements, together with the polynomial that gives it, and where it was read."""

    terms: Polynomial
    source: str = ""

    @classmethod
    def of(cls, value: int, terms: Polynomial) -> "Dim":
        """`value` with its polynomial; the caller vouches that they agree."""
        dim = cls(value)
        dim.terms = terms
        return dim

    @classmethod
    def named(cls, symbol: str, value: int, source: str = "") -> "Dim":
        """A size that the literature calls `symbol`."""
        dim = cls.of(value, {(Atom(symbol, int(value)),): 1})
        dim.source = source
        return dim

    def __add__(self, other: int) -> "Dim":
        return Dim.of(int(self) + int(other), add(self.terms, polynomial(other)))

    def __sub__(self, other: int) -> "Dim":
        return Dim.of(int(self) - int(other), add(self.terms, multiply({(): -1}, polynomial(other))))

    def __mul__(self, other: int) -> "Dim":
        return Dim.of(int(self) * int(other), multiply(self.terms, polynomial(other)))

    def __floordiv__(self, other: int) -> "Dim":
        value = int(self) // int(other)
        above, below = render(self.terms), render(polynomial(other))
        above = f"({above})" if " " in above else above
        below = f"({below})" if " " in below or "·" in below else below
        return Dim.named(f"({above}/{below})", value)

    __radd__ = __add__
    __rmul__ = __mul__


def polynomial(value: int) -> Polynomial:
    """The polynomial of a Dim, or a plain number as a constant."""
    if isinstance(value, Dim):
        return value.terms
    return {(): value} if value else {}


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """The sum, like terms gathered."""
    result = dict(left)
    for monomial, coefficient in right.items():
        result[monomial] = result.get(monomial, 0) + coefficient
        if not result[monomial]:
            del result[monomial]
    return result


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product, like terms gathered."""
    result: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = tuple(sorted(a + b, key=_place)) if a and b else a or b
            result[monomial] = result.get(monomial, 0) + x * y
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def portion(whole: int, some: int, of: int) -> int:
    """`whole`, which has `of` as a factor, with `some` in its place."""
    value, below = int(whole) * int(some) // int(of), polynomial(of)
    if some == of or not isinstance(whole, Dim):
        return whole if some == of else value
    ((factors, coefficient),) = below.items()
    if coefficient != 1 or any(Counter(factors) - Counter(monomial) for monomial in whole.terms):
        return value
    rest = {divide(monomial, factors): count for monomial, count in whole.terms.items()}
    return Dim.of(value, multiply(rest, polynomial(some)))


def evaluate(terms: Polynomial) -> int:
    """The number that the polynomial stands for."""
    total = 0
    for monomial, product in terms.items():
        for atom in monomial:
            product *= atom.value
        total += product
    return total


def atoms(terms: Polynomial) -> set[Atom]:
    """Every symbol of the polynomial with its value."""
    return {atom for monomial in terms for atom in monomial}


def render_factored(terms: Polynomial, names: dict[Atom, str]) -> str:
    """The polynomial as text, what is multiplied by the same number of layers gathered: `N·(2·d + d·d_ff) + d`.

    Outside of the layers all that terms share is drawn out, as in `d·(2·|V| + 1)`.
    """
    groups: dict[Monomial, Polynomial] = {}
    for monomial, coefficient in terms.items():
        layers = tuple(atom for atom in monomial if counts_layers(atom))
        groups.setdefault(layers, {})[monomial] = coefficient
    texts = []
    for layers, group in sorted(groups.items(), key=lambda item: (not item[0], item[0])):
        first, *others = map(Counter, group)
        common = list(layers or reduce(Counter.__and__, others, first).elements()) if others else []
        rest = {divide(monomial, common): coefficient for monomial, coefficient in group.items()}
        product = "·".join(names[atom] for atom in common)
        texts.append(f"{product}·({render(rest, names)})" if common else render(rest, names))
    return " + ".join(texts) or "0"


def counts_layers(atom: Atom) -> bool:
    """Whether the symbol is a number of layers: N, or N with an index."""
    return atom.symbol[0] == "N"


def render(terms: Polynomial, names: dict[Atom, str] | None = None) -> str:
    """The polynomial as text; `names` says how an atom is written (its symbol when left out)."""
    if not terms:
        return "0"
    text = ""
    for monomial, coefficient in terms.items():
        factors = [names[atom] if names else atom.symbol for atom in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, f"{abs(coefficient):,}")
        sign = ("-" if coefficient < 0 else "") if not text else (" - " if coefficient < 0 else " + ")
        text += sign + "·".join(factors)
    return text


def divide(monomial: Monomial, factors: Iterable[Atom]) -> Monomial:
    """The monomial without these factors, each of which it has."""
    rest = list(monomial)
    for atom in factors:
        rest.remove(atom)
    return tuple(rest)


def _place(atom: Atom) -> tuple[int, Atom]:
    return 0 if counts_layers(atom) else _ORDER.get(atom.symbol, len(_ORDER)), atom
