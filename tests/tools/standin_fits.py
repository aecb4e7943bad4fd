"""Finds expressions and decisions that hold for all probes, for tests/tools/standins.py."""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from hfcount.architectures.recorded_rules import Unprobed, evaluated, feature_state, is_number

Json = dict[str, Any]
Vector = tuple[int, ...]

FEWEST = 4
"""Probes with different numbers that an expression has to hold for; of one that is known from elsewhere, 2."""
_SOUGHT, _FURTHER, _ATTEMPTS = 64, 8, 4
"""Of how many samples an expression is sought; how many that contradict it are added, and how often."""
_DENOMINATORS = 8
_MOST_SEVERAL, _AT_ONCE, _MOST_IN_AREAS = 400, 4096, 12
_MOST_SHARES = 80
_DIVISORS = (2, 3, 4, 6, 8, 16)
_MOST_PAIRED = 1200
_OF_NUMBER = re.compile(r"//-?\d")
_MOST, _GREATEST = 1024, 1 << 20
"""The greatest number before a monomial, and the greatest that is added: code has none that is greater."""


class Sample(NamedTuple):
    """What holds under a probe.

    Args:
        values: those of the keys, which do not change.
        label: what has to be explained: the words of it, and its numbers; None if there is nothing.
    """

    values: Json
    label: tuple[str, Vector] | None


class Values:
    """What expressions and features come to under values that do not change, each computed once.

    Attributes:
        alike: the expressions that were found for the ends of ranges, by how the names begin, and which end it is; and
            for the extents of the tensors of a module.
    """

    def __init__(self) -> None:
        self.alike: dict[Any, list[str]] = {}
        self._results: dict[tuple[str, int], int | None] = {}
        self._states: dict[tuple[str, int], str] = {}
        self._kept: dict[int, Json] = {}

    def result(self, expression: str, values: Json) -> int | None:
        """The value of an expression; None if it gives none."""
        key = (expression, id(values))
        if key not in self._results:
            self._kept[id(values)] = values  # so that no other values get its id
            try:
                self._results[key] = evaluated(expression, values.get)
            except Unprobed:
                self._results[key] = None
        return self._results[key]

    def state(self, feature: str, values: Json) -> str:
        """The state of a feature."""
        key = (feature, id(values))
        if key not in self._states:
            self._kept[id(values)] = values
            self._states[key] = feature_state(feature, values)
        return self._states[key]


def numeric(samples: Sequence[Sample], keys: Iterable[str]) -> dict[str, Any]:
    """The keys that hold finite numbers in all samples, with an array of those."""
    found = {}
    for key in keys:
        values = [sample.values.get(key) for sample in samples]
        if all(is_number(value) and isfinite(value) for value in values):
            found[key] = np.array(values, dtype=float)
    return found


class Fitter:
    """Finds expressions over keys.

    Args:
        keys: those that may be in expressions; `further` where these give none.
        values: what was computed before.

    Attributes:
        known: by component, expressions that were found before, which are tried first.
    """

    def __init__(self, keys: Sequence[str], further: Sequence[str] = (), values: Values | None = None) -> None:
        self.keys, self.further, self.values = keys, further, values or Values()
        self._counted = [key for key in self.keys if "!" not in key]
        self.known: dict[Any, list[str]] = {}
        self._unknown: set[tuple[Any, ...]] = set()

    def fit(self, samples: Sequence[Sample], where: Any) -> str | None:
        """The rule that gives the labels of all samples; None if none is found. `where` names what is fitted."""
        first = samples[0].label
        if first is None or any(sample.label is None or sample.label[0] != first[0] for sample in samples):
            return None
        parts = []
        alike = _alike(first[0], where)
        for place in range(len(first[1])):
            targets = [sample.label[1][place] for sample in samples if sample.label]
            expression = self._of_alike(samples, targets, alike.get(place))
            expression = expression or self._component(samples, targets, (where, place))
            if expression is None:
                return None
            if place in alike and not expression.isdecimal():
                known = self.values.alike.setdefault(alike[place], [])
                known += [expression] if expression not in known else []
            parts.append(expression)
        return assembled(first[0], parts)

    def _of_alike(self, samples: Sequence[Sample], targets: list[int], place: Any) -> str | None:
        """What a number is of names that begin alike and are in more probes, if that holds here."""
        return next((one for one in self.values.alike.get(place, ()) if self._holds(one, samples, targets)), None)

    def _holds(self, expression: str, samples: Sequence[Sample], targets: list[int]) -> bool:
        return all(
            self.values.result(expression, sample.values) == target
            for sample, target in zip(samples, targets, strict=True)
        )

    def _component(self, samples: Sequence[Sample], targets: list[int], where: Any) -> str | None:
        known = self.known.setdefault(where, [])
        for expression in known:
            if self._holds(expression, samples, targets):
                return expression
        if len({tuple(str(sample.values.get(key)) for key in self._counted) for sample in samples}) < FEWEST:
            return None
        problem = (*(id(sample.values) for sample in samples), *targets)
        if problem in self._unknown:
            return None
        found = self._sought(samples, targets, self.keys)
        if found is None and self.further:
            found = self._sought(samples, targets, self.further)
        if found is not None:
            known.append(found)
        else:
            self._unknown.add(problem)
        return found

    def _sought(self, samples: Sequence[Sample], targets: list[int], keys: Sequence[str]) -> str | None:
        """An expression that is sought on a part of the samples and gives the targets of all."""
        columns = numeric(samples, keys)
        part = sorted(random.Random(0).sample(range(len(targets)), min(_SOUGHT, len(targets))))
        best = None
        for _ in range(_ATTEMPTS):
            found = expression_of({key: column[part] for key, column in columns.items()}, [targets[at] for at in part])
            if found is None:
                return best
            results = [self.values.result(found, sample.values) for sample in samples]
            odd = [at for at, (mine, right) in enumerate(zip(results, targets, strict=True)) if mine != right]
            if not odd:
                return found
            best = found if all(results[at] is None for at in odd) else best  # it is no whole number there
            part = sorted({*part, *odd[:_FURTHER]})
        return best


def _alike(text: str, where: Any) -> dict[int, tuple[str, Any]]:
    """By the place of a number of a label, what it is alike to: the extents of a module, or the same end of a range."""
    name = where[0] if isinstance(where, tuple) and len(where) == 2 else None  # of a row with its kind
    if name is None or "|" not in text:
        return {}
    extents, _, ranges = text.partition("|")
    place = extents.count("#")
    found: dict[int, tuple[str, Any]] = {at: (name.rpartition(".")[0], "extent") for at in range(place)}
    for brace, range_ in enumerate(ranges.split(";") if ranges else ()):
        begins = "{}".join(name.split("{}")[: brace + 1])
        for end in range(range_.count("#")):
            found[place] = (begins, end)
            place += 1
    return found


def assembled(text: str, parts: Sequence[str]) -> str:
    """A rule: the text with an expression at each `#`."""
    pieces = text.split("#")
    return pieces[0] + "".join(f"{part}{piece}" for part, piece in zip(parts, pieces[1:], strict=True))


_Monomials = Sequence[tuple[tuple[str, ...], Any]]


def _products(varied: Mapping[str, Any]) -> tuple[_Monomials, _Monomials]:
    """Keys, and products of two."""
    singles = [((key,), column) for key, column in varied.items()]
    products = (
        singles
        + [((one, other), varied[one] * varied[other]) for one, other in combinations(varied, 2)]
        + [((key, key), column * column) for key, column in varied.items()]
    )
    return singles, products


def _shares(varied: Mapping[str, Any]) -> tuple[_Monomials, _Monomials, _Monomials]:
    """Quotients that are rounded down, those times a key, and those times another."""
    above = {key: column for key, column in varied.items() if column.min() >= 0}
    floors = {
        f"{one}//{other}": np.floor(top / below)
        for one, top in above.items()
        for other, below in above.items()
        if one != other and below.min() > 0 and _is_divided_by(top, below)
    }
    for key, column in above.items():
        for below in _DIVISORS if not np.any(column % 1) else ():
            if np.any(column % below):  # rounded down, and up
                floors[f"{key}//{below}"], floors[f"{key}//-{below}"] = (
                    np.floor(column / below),
                    np.floor(column / -below),
                )
    shares = [((name,), column) for name, column in floors.items() if len(set(column)) > 1]
    shared = [((name, key), column * varied[key]) for (name,), column in shares for key in varied]
    tiles = [((name, name), column * column) for (name,), column in shares]
    if len(shares) <= _MOST_SHARES:
        tiles += [((one, other), left * right) for ((one,), left), ((other,), right) in combinations(shares, 2)]
    return shares, shared, tiles


def _areas(varied: Mapping[str, Any]) -> _Monomials:
    """Quotients of products of two keys that are rounded down."""
    above = {key: column for key, column in varied.items() if column.min() >= 0 and not np.any(column % 1)}
    if len(above) > _MOST_IN_AREAS:
        return []
    found = []
    for one, other in combinations_with_replacement(above, 2):
        for key, column in above.items():
            for name, below in ((f"{key}^{key}", column * column), (key, column)):
                top = above[one] * above[other]
                if key not in (one, other) and column.min() > 0 and _is_divided_by(top, below):
                    found.append(((f"{one}^{other}//{name}",), np.floor(top / below)))
    return found


def _is_divided_by(top: Any, below: Any) -> bool:
    """Whether one is never less than the other, but where it is 0."""
    return bool(((top >= below) | (top == 0)).all())


def _further(products: _Monomials, varied: Mapping[str, Any]) -> tuple[_Monomials, _Monomials]:
    """Exact quotients, and products of three keys."""
    divisors = {key: column for key, column in varied.items() if column.all()}
    quotients = [
        ((*names, f"/{key}"), top / column)
        for names, top in products
        for key, column in divisors.items()
        if key not in names
    ]
    triples = [
        ((*names, key), top * column)
        for names, top in products
        if len(names) == 2
        for key, column in varied.items()
        if key >= names[-1]
    ]
    return quotients, triples


def expression_of(columns: Mapping[str, Any], targets: Sequence[int]) -> str | None:
    """The shortest expression that gives the targets, to the unit; None if none is found."""
    y = np.array(targets, dtype=float)
    if len(set(targets)) == 1:
        return str(targets[0])
    if len({*targets}) < 2:
        return None
    varied: dict[str, Any] = {}
    seen: set[bytes] = set()
    for key in sorted(columns, key=lambda key: ("!" in key, len(key))):  # of keys that are alike the plainest
        column = columns[key]
        if len(set(column)) > 1 and (alike := column.tobytes()) not in seen:
            seen.add(alike)
            varied[key] = column
    varied = {key: varied[key] for key in columns if key in varied}
    singles, products = _products(varied)
    return (
        _scaled(singles, y) or _affine(singles, y) or _scaled(products, y) or _with_shares(varied, singles, products, y)
    )


def _with_shares(varied: Mapping[str, Any], singles: _Monomials, products: _Monomials, y: Any) -> str | None:
    """An expression that may hold quotients, products of three, and sums."""
    shares, shared, tiles = _shares(varied)
    if (text := _scaled(shares, y) or _scaled(shared, y)) is not None:
        return text
    quotients, triples = _further(products, varied)
    return (
        _scaled(quotients, y)
        or _scaled(tiles, y)
        or _affine(shares + tiles, y)
        or _pairs(singles, y)
        or _linear(singles, y)
        or _scaled(triples, y)
        or _affine(products + quotients, y)
        or _pairs(singles + tiles, y)
        or _pairs(singles + shared, y)
        or _pairs(products, y)
        or _several(singles + products, y, 3)
        or _pairs(products + shares, y)
        or _pairs(products + quotients, y)
        or _affine(areas := _areas(varied), y)
        or _pairs(singles + areas, y)
    )


def _scaled(monomials: _Monomials, y: Any) -> str | None:
    """A number times a monomial."""
    for part in _slices(monomials):
        columns = np.array([column for _, column in part])
        ratios = y / np.where(columns == 0, np.nan, columns)
        usual = np.where(columns == 0, 0, ratios)
        usual = np.take_along_axis(usual, np.abs(usual).argmax(axis=1)[:, None], axis=1)
        ratios = np.where((columns == 0) & (y == 0), usual, ratios)  # 0 times anything
        same = np.ptp(ratios, axis=1) <= 1e-9 * np.maximum(np.abs(usual[:, 0]), 1e-12)
        places = np.flatnonzero(same)  # none where a column has a 0 and y has none
        if texts := [text for place in places if (text := _term(usual[place][0], part[place][0]))]:
            return min(texts, key=_is_divided)  # a third of a half is a sixth, which is rounded down once
    return None


def _is_divided(text: str) -> bool:
    return "/" in text.replace("//", "")


def _slices(monomials: _Monomials) -> Iterable[_Monomials]:
    return (monomials[start : start + _AT_ONCE] for start in range(0, len(monomials), _AT_ONCE))


def _affine(monomials: _Monomials, y: Any) -> str | None:
    """A number times a monomial, and a constant."""
    ones, centred = np.ones_like(y), y - y.mean()
    for part in _slices(monomials):
        columns = np.array([column for _, column in part])
        columns = columns - columns.mean(axis=1, keepdims=True)
        size = np.sqrt((columns * columns).sum(axis=1))
        along = np.abs(columns @ centred) / np.where(size == 0, np.inf, size)
        for place in np.flatnonzero(along >= (1 - 1e-6) * np.sqrt(centred @ centred)):
            if (text := _solved([part[place], ((), ones)], y)) is not None:
                return text
    return None


def _linear(monomials: _Monomials, y: Any) -> str | None:
    """A sum of keys with numbers before them, of which most are 0."""
    if len(y) < len(monomials) + FEWEST or not monomials:
        return None
    columns = np.array([*(column for _, column in monomials), np.ones_like(y)]).T
    scale = np.abs(columns).max(axis=0)
    weights, rank = _weights(columns / scale, y)
    if rank < len(scale):
        return None
    named = [*monomials, ((), np.ones_like(y))]
    return _solved([item for item, weight in zip(named, weights / scale, strict=True) if abs(weight) > 1e-6], y)


def _weights(columns: Any, y: Any) -> tuple[Any, int]:
    """The least squares of y over columns, and their rank; of columns that have none, zeros and 0."""
    try:
        weights, _, rank, _ = np.linalg.lstsq(columns, y, rcond=None)
    except np.linalg.LinAlgError:  # numbers too far apart
        return np.zeros(columns.shape[1]), 0
    return weights, int(rank)


def _pairs(monomials: _Monomials, y: Any) -> str | None:
    """A sum of two monomials, with a constant or without."""
    if len(y) < 5 or not 0 < len(monomials) <= _MOST_PAIRED:
        return None
    columns = np.array([column for _, column in monomials])
    residual = _residuals(columns, y)
    for place, other in zip(*np.where(residual), strict=True):
        if place < other and (text := _solved([monomials[place], monomials[other]], y)) is not None:
            return text
    if len(y) < 6:
        return None
    centred = columns - columns.mean(axis=1, keepdims=True)
    residual = _residuals(centred, y - y.mean())
    ones = ((), np.ones_like(y))
    for place, other in zip(*np.where(residual), strict=True):
        if place < other and (text := _solved([monomials[place], monomials[other], ones], y)) is not None:
            return text
    return None


def _residuals(columns: Any, y: Any) -> Any:
    """Which pairs of columns span y."""
    scale = np.sqrt((columns * columns).sum(axis=1))
    unit = columns / np.where(scale == 0, 1, scale)[:, None]
    gram, along, size = unit @ unit.T, unit @ y, float(y @ y)
    determinant = 1 - gram * gram
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = (
            along[:, None] ** 2 + along[None, :] ** 2 - 2 * gram * along[:, None] * along[None, :]
        ) / determinant
    return (determinant > 1e-9) & (np.abs(size - explained) <= 1e-6 * size)


def _several(monomials: _Monomials, y: Any, most: int) -> str | None:
    """A sum of a few monomials, found one after the other, with a constant or without."""
    if len(y) < 2 * most + 4 or len(monomials) > _MOST_SEVERAL:
        return None
    monomials = [*(item for item in monomials if 0 < item[1] @ item[1] < np.inf), ((), np.ones_like(y))]
    columns = np.array([column for _, column in monomials])
    scale = np.sqrt((columns * columns).sum(axis=1))
    for first in range(len(monomials)):
        chosen = [first]
        while len(chosen) <= most:
            basis = columns[chosen].T
            weights, _ = _weights(basis / scale[chosen], y)
            rest = y - (basis / scale[chosen]) @ weights
            if np.abs(rest).max() < 1e-6 * max(np.abs(y).max(), 1):
                if (text := _solved([monomials[place] for place in chosen], y)) is not None:
                    return text
                break
            outside = columns - (columns @ np.linalg.pinv(basis).T) @ basis.T
            size = np.sqrt((outside * outside).sum(axis=1))
            gain = np.abs(outside @ rest) / np.where(size < 1e-9 * scale, np.inf, size)
            chosen.append(int(gain.argmax()))
    return None


def _solved(monomials: _Monomials, y: Any) -> str | None:
    """The sum of these monomials with numbers before them, if these are simple and it is y to the unit."""
    columns = np.array([column for _, column in monomials]).T
    scale = np.abs(columns).max(axis=0)
    if not np.all(scale):
        return None
    weights, rank = _weights(columns / scale, y)
    if rank < len(monomials):
        return None
    terms = [_term(weight, names) for weight, (names, _) in zip(weights / scale, monomials, strict=True)]
    if not all(terms):
        return None
    simple = [Fraction(weight).limit_denominator(_DENOMINATORS) for weight in weights / scale]
    if np.abs(columns @ np.array([float(one) for one in simple]) - y).max() > 1e-6 * max(np.abs(y).max(), 1):
        return None
    return "+".join(filter(None, terms))


def _term(weight: float, names: tuple[str, ...]) -> str | None:
    """A product or quotient with a simple number before it; None if that is not simple."""
    simple = Fraction(weight).limit_denominator(_DENOMINATORS)
    if simple.denominator != 1 and any(_OF_NUMBER.search(name) for name in names):
        return None  # no code takes a fraction of what it rounded down, as a sum of chance does
    if simple == 0 or abs(float(simple) - weight) > 1e-7 * abs(weight) or abs(simple) > (_MOST if names else _GREATEST):
        return None
    above = (
        [str(simple.numerator)] if simple.numerator != 1 or not any(not name.startswith("/") for name in names) else []
    )
    text = "*".join([*above, *(name for name in names if not name.startswith("/"))])
    below = [name for name in names if name.startswith("/")] + (
        [f"/{simple.denominator}"] if simple.denominator != 1 else []
    )
    return text + "".join(below)
