"""Sizes that remember their formula: an int that is also a polynomial in the literature's symbols."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, cast

from hfcount.spec.tree.polynomials import Atom, Polynomial, add, arithmetic, grouped, multiply, quotient, render


class Dim(int):
    """A size in elements that knows where it is from: a key of a config, or arithmetic over other sizes.

    `terms`, its polynomial, and `source` are computed when they are first used, since counting needs neither.
    """

    _made: "tuple[str | _Operation, int, int | str]"
    _terms: Polynomial | None = None

    @classmethod
    def of(cls, value: int, terms: Polynomial) -> "Dim":
        """`value` with its polynomial, which must evaluate to it."""
        dim = cls.named("", value)
        dim._terms = terms
        return dim

    @classmethod
    def named(cls, symbol: str, value: int, source: str = "") -> "Dim":
        """A size with a symbol, from the literature or else its key's name; `source` defaults to that of `value`."""
        if not source and isinstance(value, Dim) and value._made[0] == symbol:
            return value
        dim = cls(value)
        dim._made = (symbol, int(value) if source else value, source)
        return dim

    @property
    def symbol(self) -> str:
        """The symbol of the number; empty if it is the result of arithmetic."""
        how = self._made[0]
        return how if isinstance(how, str) else ""

    @property
    def terms(self) -> Polynomial:
        """The polynomial."""
        if self._terms is None:
            how, left, right = self._made
            if isinstance(how, _Operation):
                self._terms = how.polynomials(left, cast(int, right))
            else:
                self._terms = {(Atom(how, int(self), str(right) or origin(left)),): 1}
        return self._terms

    @property
    def source(self) -> str:
        """The key of the config, or the arithmetic over keys, that gives the number; written as in `Atom`."""
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            if coefficient == len(monomial) == 1:
                return monomial[0].source
        return arithmetic(self.terms)

    def read(self) -> Iterator[tuple[str, int]]:
        """The sources of the number, and of each named size that it was computed from, with their values."""
        how, left, right = self._made
        if isinstance(how, str):
            yield self.source, int(self)
        for part in (left, right):
            if isinstance(part, Dim):
                yield from part.read()

    def depending(self, key: str) -> Callable[[int], int]:
        """The number as a function of the value of the source `key`."""
        how, left, right = self._made
        if isinstance(how, str) and self.source == key:
            return int
        first = _depending(left, key)
        if not isinstance(how, _Operation):
            return first
        numbers, second = how.numbers, _depending(cast(int, right), key)
        return lambda value: numbers(first(value), second(value))

    def __add__(self, other: int) -> "Dim":
        return _computed(_SUM, self, other)

    def __sub__(self, other: int) -> "Dim":
        return _computed(_DIFFERENCE, self, other)

    def __rsub__(self, other: int) -> "Dim":
        return _computed(_DIFFERENCE, other, self)

    def __mul__(self, other: int) -> "Dim":
        return _computed(_PRODUCT, self, other)

    def __floordiv__(self, other: int) -> "Dim":
        return _computed(_QUOTIENT, self, other)

    def __rfloordiv__(self, other: int) -> "Dim":
        return _computed(_QUOTIENT, other, self)

    __radd__ = __add__
    __rmul__ = __mul__


def _depending(part: int, key: str) -> Callable[[int], int]:
    if isinstance(part, Dim):
        return part.depending(key)
    number = int(part)
    return lambda _: number


class _Operation(NamedTuple):
    numbers: Callable[[int, int], int]
    polynomials: Callable[[int, int], Polynomial]


def _sum(left: int, right: int) -> Polynomial:
    return add(polynomial(left), polynomial(right))


def _difference(left: int, right: int) -> Polynomial:
    return add(polynomial(left), multiply({(): -1}, polynomial(right)))


def _product(left: int, right: int) -> Polynomial:
    return multiply(polynomial(left), polynomial(right))


def _quotient(above: int, below: int) -> Polynomial:
    """One symbol for the whole quotient, since it is rounded."""
    over, under = render(polynomial(above)), render(polynomial(below))
    over = f"({over})" if " " in over else over
    under = f"({under})" if " " in under or "·" in under else under
    dividend, divisor = arithmetic(polynomial(above)), grouped(arithmetic(polynomial(below)))
    source = f"{grouped(dividend) if len(polynomial(above)) > 1 else dividend} / {divisor}"
    return {(Atom(f"({over}/{under})", int(above) // int(below), source),): 1}


_SUM, _DIFFERENCE = _Operation(int.__add__, _sum), _Operation(int.__sub__, _difference)
_PRODUCT, _QUOTIENT = _Operation(int.__mul__, _product), _Operation(int.__floordiv__, _quotient)


def _computed(how: _Operation, left: int, right: int) -> Dim:
    value = how.numbers(left, right)
    if value is NotImplemented:  # the other operand is not an int
        return cast(Dim, value)
    dim = Dim(value)
    dim._made = (how, left, right)
    return dim


def scaled(factor: float, source: str, size: int) -> Dim:
    """`factor` times `size`, rounded down; `source` is where the factor is from."""
    return _computed(_Operation(partial(_scale, factor), partial(_scaled, factor, source)), size, 1)


def _scale(factor: float, size: int, _: int) -> int:
    return int(factor * int(size))


def _scaled(factor: float, source: str, size: int, _: int) -> Polynomial:
    """One symbol, since the product is rounded."""
    source = f"{source} · {grouped(arithmetic(polynomial(size)))}"
    return {(Atom(f"({source.replace(' ', '')})", int(factor * int(size)), source),): 1}


def round_up(size: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `size`."""
    return (size + multiple - 1) // multiple * multiple


def origin(value: int) -> str:
    """The source of a Dim; a plain number is fixed by the architecture."""
    return value.source if isinstance(value, Dim) else f"{value}, fixed"


def stated(value: int) -> str:
    """The key of a size, or arithmetic over keys; the number itself where no key is given."""
    return arithmetic(polynomial(value))


def unnamed(value: int) -> int:
    """What a size was computed as, before it was given a symbol without a source of its own."""
    while isinstance(value, Dim) and isinstance(value._made[0], str) and not value._made[2]:
        if not isinstance(value._made[1], Dim):
            return int(value)
        value = value._made[1]
    return value


def has_key(value: int | None) -> bool:
    """Whether the number comes from a key of the config, or from the default of an absent key."""
    return isinstance(value, Dim) and not value.source.endswith(", fixed")


def polynomial(value: int) -> Polynomial:
    """The polynomial of a Dim; a plain number is a constant."""
    if isinstance(value, Dim):
        return value.terms
    return {(): value} if value else {}


def portion(size: int, part: int, of: int) -> int:
    """Replaces the factor `of` of `whole` by `some`, e.g. all experts by active ones; a plain int if not a factor."""
    if part is of or not of:  # of no experts, there are no elements
        return size
    if not isinstance(of, Dim):
        return size if part == of else int(size) * int(part) // int(of)
    value = int(size) * int(part) // int(of)
    rest = quotient(size.terms, of.terms) if isinstance(size, Dim) else None
    return value if rest is None else Dim.of(value, multiply(rest, polynomial(part)))
