"""Polynomials in the literature's symbols: their arithmetic, and how they are written."""

from collections import Counter
from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

# The order of symbols within a product: layers and experts first, then heads, then widths.
_ORDER = {symbol: place for place, symbol in enumerate(("N", "n", "k", "h", "h_kv", "h_d", "d", "d_ff", "|V|", "c"))}


class Atom(NamedTuple):
    """A symbol, its value, and where that is from; two that differ in any of these are two symbols.

    `source` is the full path of a config key (`text_config.hidden_size`), or arithmetic over keys and numbers
    (`hidden_size / num_attention_heads`); a remark may follow a comma (`head_dim, by default`).
    """

    symbol: str
    value: int
    source: str = ""


Monomial = tuple[Atom, ...]
Polynomial = dict[Monomial, int]


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """The sum, with like terms combined."""
    result = dict(left)
    for monomial, coefficient in right.items():
        result[monomial] = result.get(monomial, 0) + coefficient
        if not result[monomial]:
            del result[monomial]
    return result


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product, with like terms combined."""
    result: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = tuple(sorted(a + b, key=_place)) if a and b else a or b
            result[monomial] = result.get(monomial, 0) + x * y
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def quotient(above: Polynomial, below: Polynomial) -> Polynomial | None:
    """The polynomial that gives `above` when multiplied by `below`; None where there is none with whole coefficients.

    Long division: each step cancels the first term in an order that multiplication keeps (highest degree, then atoms).
    """
    result: Polynomial = {}
    lead = min(below, key=_rank)
    while above:
        first = min(above, key=_rank)
        if Counter(lead) - Counter(first) or above[first] % below[lead]:
            return None
        term = {divide(first, lead): above[first] // below[lead]}
        result = add(result, term)
        above = add(above, multiply({(): -1}, multiply(term, below)))
    return result


def evaluate(terms: Polynomial) -> int:
    """The value of the polynomial."""
    total = 0
    for monomial, product in terms.items():
        for atom in monomial:
            product *= atom.value
        total += product
    return total


def atoms(terms: Polynomial) -> set[Atom]:
    """Every symbol of the polynomial."""
    return {atom for monomial in terms for atom in monomial}


def render_factored(terms: Polynomial, names: dict[Atom, str]) -> str:
    """The polynomial as text, with the number of layers factored out: `N·(2·d + d·d_ff) + d`.

    Terms outside of the layers are also factored, as in `d·(2·|V| + 1)`.
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
    """The polynomial as text; `names` gives the text of each atom, by default its symbol."""
    written = (
        ([names[atom] if names else atom.symbol for atom in monomial], coefficient)
        for monomial, coefficient in terms.items()
    )
    return _joined(written, "·", ",")


def arithmetic(terms: Polynomial) -> str:
    """The polynomial over the keys of a config, as in `Atom.source`; a symbol without a key becomes its number."""
    written = []
    for monomial, coefficient in sorted(terms.items(), key=lambda term: term[1] < 0):  # nothing begins with a minus
        factors = [_stated(atom) for atom in monomial]
        lonely = len(factors) == coefficient == 1
        written.append((factors if lonely else list(map(grouped, factors)), coefficient))
    return _joined(written, " · ", "")


def _stated(atom: Atom) -> str:
    """The key of a symbol, or its number if it has none; the symbol itself if a rule of an architecture makes it."""
    source, _, rule = atom.source.partition(", ")
    if rule in ("fixed", "by default"):
        return f"{atom.value}"
    return (atom.symbol or f"{atom.value}") if rule else source or atom.symbol


def _joined(products: Iterable[tuple[list[str], int]], times: str, thousands: str) -> str:
    text = ""
    for factors, coefficient in products:
        number = [f"{abs(coefficient):{thousands}}"] if abs(coefficient) != 1 or not factors else []
        sign = ("-" if coefficient < 0 else "") if not text else (" - " if coefficient < 0 else " + ")
        text += sign + times.join(number + factors)
    return text or "0"


def grouped(text: str) -> str:
    """Arithmetic in parentheses, so that it can be a factor of a product."""
    return f"({text})" if " " in text else text


def divide(monomial: Monomial, factors: Iterable[Atom]) -> Monomial:
    """The monomial divided by these factors, all of which it must have."""
    rest = list(monomial)
    for atom in factors:
        rest.remove(atom)
    return tuple(rest)


def _rank(monomial: Monomial) -> tuple[int, list[tuple[int, Atom]]]:
    return -len(monomial), list(map(_place, monomial))


def _place(atom: Atom) -> tuple[int, Atom]:
    return 0 if counts_layers(atom) else _ORDER.get(atom.symbol, len(_ORDER)), atom
