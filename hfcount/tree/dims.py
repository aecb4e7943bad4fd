"""Sizes that remember their formula: an int that is also a polynomial in the literature's symbols."""

from collections import Counter
from collections.abc import Callable
from typing import cast

from hfcount.tree.polynomials import Atom, Polynomial, add, arithmetic, divide, grouped, multiply, render


class Dim(int):
    """A size in elements, together with the polynomial that gives it, which is worked out when it is asked for."""

    _made: Polynomial | tuple[str, int, str] | tuple[Callable[[int, int], Polynomial], tuple[int, int]]

    @classmethod
    def of(cls, value: int, terms: Polynomial) -> "Dim":
        """`value` with its polynomial; the caller vouches that they agree."""
        dim = cls(value)
        dim._made = terms
        return dim

    @classmethod
    def named(cls, symbol: str, value: int, source: str = "") -> "Dim":
        """A size called `symbol`, as in the literature, or else as its key; a source left out is that of `value`."""
        if not source and isinstance(value, Dim):
            made = value._made
            if isinstance(made, tuple) and made[0] == symbol:
                return value
        dim = cls(value)
        dim._made = (symbol, value, source)
        return dim

    @property
    def terms(self) -> Polynomial:
        """The polynomial."""
        made = self._made
        if not isinstance(made, dict):
            made = self._made = {(_atom(*made),): 1} if len(made) == 3 else made[0](*made[1])
        return made

    @property
    def source(self) -> str:
        """Where the number is from: a config's key, or arithmetic over keys, as in `Atom`."""
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            if coefficient == len(monomial) == 1:
                return monomial[0].source
        return arithmetic(self.terms)

    def __add__(self, other: int) -> "Dim":
        return _worked(int.__add__(self, other), _sum, self, other)

    def __sub__(self, other: int) -> "Dim":
        return _worked(int.__sub__(self, other), _difference, self, other)

    def __rsub__(self, other: int) -> "Dim":
        return _worked(int.__rsub__(self, other), _difference, other, self)

    def __mul__(self, other: int) -> "Dim":
        return _worked(int.__mul__(self, other), _product, self, other)

    def __floordiv__(self, other: int) -> "Dim":
        return _worked(int.__floordiv__(self, other), _quotient, self, other)

    def __rfloordiv__(self, other: int) -> "Dim":
        return _worked(int.__rfloordiv__(self, other), _quotient, other, self)

    __radd__ = __add__
    __rmul__ = __mul__


def _worked(value: int, operator: Callable[[int, int], Polynomial], left: int, right: int) -> Dim:
    if value is NotImplemented:  # the other is no whole number
        return cast(Dim, value)
    dim = Dim(value)
    dim._made = (operator, (left, right))
    return dim


def _atom(symbol: str, value: int, source: str) -> Atom:
    source = source or origin(value)
    return Atom(symbol or f"({source.replace(' ', '')})", int(value), source)


def _sum(left: int, right: int) -> Polynomial:
    return add(polynomial(left), polynomial(right))


def _difference(left: int, right: int) -> Polynomial:
    return add(polynomial(left), multiply({(): -1}, polynomial(right)))


def _product(left: int, right: int) -> Polynomial:
    return multiply(polynomial(left), polynomial(right))


def _quotient(above: int, below: int) -> Polynomial:
    """One symbol, which says what is divided by what."""
    over, under = render(polynomial(above)), render(polynomial(below))
    over = f"({over})" if " " in over else over
    under = f"({under})" if " " in under or "·" in under else under
    whole, part = arithmetic(polynomial(above)), grouped(arithmetic(polynomial(below)))
    source = f"{grouped(whole) if len(polynomial(above)) > 1 else whole} / {part}"
    return {(Atom(f"({over}/{under})", int(above) // int(below), source),): 1}


def scaled(factor: float, source: str, size: int) -> Dim:
    """`factor`, which `source` gives, times `size`, rounded down."""
    return Dim.named("", int(factor * size), f"{source} · {grouped(arithmetic(polynomial(size)))}")


def round_up(size: int, multiple: int) -> int:
    """The smallest multiple that is not below `size`."""
    return (size + multiple - 1) // multiple * multiple


def origin(value: int) -> str:
    """Where a number is from: the source of a Dim; any other is the architecture's own."""
    return value.source if isinstance(value, Dim) else f"{value}, fixed"


def has_key(value: int | None) -> bool:
    """Whether the number is a config's: under a key, or what the absence of one means."""
    return isinstance(value, Dim) and not value.source.endswith(", fixed")


def polynomial(value: int) -> Polynomial:
    """The polynomial of a Dim, or a plain number as a constant."""
    if isinstance(value, Dim):
        return value.terms
    return {(): value} if value else {}


def portion(whole: int, some: int, of: int) -> int:
    """Replaces the factor `of` of `whole` by `some`, e.g. all experts by the active ones."""
    if some is of or not isinstance(of, Dim):
        return whole if some == of else int(whole) * int(some) // int(of)
    value, below = int(whole) * int(some) // int(of), of.terms
    if not isinstance(whole, Dim):
        return value
    ((factors, coefficient),) = below.items()
    if coefficient != 1 or any(Counter(factors) - Counter(monomial) for monomial in whole.terms):
        return value
    rest = {divide(monomial, factors): count for monomial, count in whole.terms.items()}
    return Dim.of(value, multiply(rest, polynomial(some)))
