"""Finds expressions and decisions that hold for all probes, for tests/tools/standins.py."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from hfcount.architectures.stand_ins import UNRESOLVED, Unprobed, evaluated, feature_state

Json = dict[str, Any]
Vector = tuple[int, ...]

_FEWEST = 4
"""Probes with different numbers that an expression has to hold for; of one that is known from elsewhere, 2."""
_DEEPEST = 6
_DENOMINATORS = 8
_MOST_SHARES = 80
_MOST_ALIKE = 4


class Sample(NamedTuple):
    """What holds under a probe.

    Args:
        values: those of the keys.
        label: what has to be explained: the words of it, and its numbers; None if there is nothing.
    """

    values: Json
    label: tuple[str, Vector] | None


def number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numeric(samples: Sequence[Sample], keys: Iterable[str]) -> dict[str, Any]:
    """The keys that hold numbers in all samples, with an array of those."""
    found = {}
    for key in keys:
        values = [sample.values.get(key) for sample in samples]
        if all(map(number, values)):
            found[key] = np.array(values, dtype=float)
    return found


class Fitter:
    """Finds expressions over keys.

    Args:
        keys: those that may be in expressions; `further` where these give none.
        known: by component, expressions that were found before, which are tried first.
    """

    def __init__(self, keys: Sequence[str], further: Sequence[str] = ()) -> None:
        self.keys, self.further = keys, further
        self.known: dict[Any, list[str]] = {}

    def fit(self, samples: Sequence[Sample], where: Any) -> str | None:
        """The rule that gives the labels of all samples; None if none is found. `where` names what is fitted."""
        first = samples[0].label
        if first is None or any(sample.label is None or sample.label[0] != first[0] for sample in samples):
            return None
        parts = []
        for place in range(len(first[1])):
            targets = [sample.label[1][place] for sample in samples if sample.label]
            expression = self._component(samples, targets, (where, place))
            if expression is None:
                return None
            parts.append(expression)
        return assembled(first[0], parts)

    def _component(self, samples: Sequence[Sample], targets: list[int], where: Any) -> str | None:
        known = self.known.setdefault(where, [])
        for expression in known:
            if all(_holds(expression, sample, target) for sample, target in zip(samples, targets, strict=True)):
                return expression
        if len({tuple(sample.values.get(key) for key in self.keys) for sample in samples}) < _FEWEST:
            return None
        found = expression_of(numeric(samples, self.keys), targets)
        if found is None and self.further:
            found = expression_of(numeric(samples, self.further), targets)
        if found is not None:
            known.append(found)
        return found


def _holds(expression: str, sample: Sample, target: int, unknown: bool = False) -> bool:
    """Whether an expression gives the target; `unknown` if it gives nothing."""
    try:
        return evaluated(expression, sample.values.get) == target
    except Unprobed:
        return unknown


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
    floors = {
        f"{one}//{other}": np.floor(top / below)
        for one, top in varied.items()
        for other, below in varied.items()
        if one != other and np.all(below > 0) and np.all(top >= below)
    }
    shares = [((name,), column) for name, column in floors.items() if len(set(column)) > 1]
    shared = [((name, key), column * varied[key]) for (name,), column in shares for key in varied]
    tiles = [((name, name), column * column) for (name,), column in shares]
    if len(shares) <= _MOST_SHARES:
        tiles += [((one, other), left * right) for ((one,), left), ((other,), right) in combinations(shares, 2)]
    return shares, shared, tiles


def _further(products: _Monomials, varied: Mapping[str, Any]) -> tuple[_Monomials, _Monomials]:
    """Exact quotients, and products of three keys."""
    quotients = [
        ((*names, f"/{key}"), top / column)
        for names, top in products
        for key, column in varied.items()
        if key not in names and np.all(column != 0)
    ]
    triples = [
        ((*names, key), top * column)
        for names, top in products
        if len(names) == 2
        for key, column in varied.items()
        if key > names[-1]
    ]
    return quotients, triples


def expression_of(columns: Mapping[str, Any], targets: Sequence[int]) -> str | None:
    """The shortest expression that gives the targets, to the unit; None if none is found."""
    y = np.array(targets, dtype=float)
    if len(set(targets)) == 1:
        return str(targets[0])
    if len({*targets}) < 2:
        return None
    varied = {key: column for key, column in columns.items() if len(set(column)) > 1}
    singles, products = _products(varied)
    shares, shared, tiles = _shares(varied)
    quotients, triples = _further(products, varied)
    return (
        _scaled(singles, y)
        or _affine(singles, y)
        or _scaled(products, y)
        or _scaled(shares, y)
        or _scaled(shared, y)
        or _scaled(quotients, y)
        or _scaled(tiles, y)
        or _affine(shares + tiles, y)
        or _pairs(singles, y)
        or _scaled(triples, y)
        or _affine(products + quotients, y)
        or _pairs(products, y)
        or _several(singles + products, y, 3)
        or _pairs(products + shares, y)
        or _pairs(products + quotients, y)
    )


def _scaled(monomials: _Monomials, y: Any) -> str | None:
    """A number times a monomial."""
    for names, column in monomials:
        if np.all(column != 0):
            ratio = y / column
            if np.ptp(ratio) <= 1e-9 * max(abs(ratio[0]), 1e-12) and (text := _term(ratio[0], names)):
                return text
    return None


def _affine(monomials: _Monomials, y: Any) -> str | None:
    """A number times a monomial, and a constant."""
    ones = np.ones_like(y)
    for names, column in monomials:
        if (text := _solved([(names, column), ((), ones)], y)) is not None:
            return text
    return None


def _pairs(monomials: _Monomials, y: Any) -> str | None:
    """A sum of two monomials, with a constant or without."""
    if len(y) < 5 or not monomials:
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
    if len(y) < 2 * most + 4:
        return None
    monomials = [*(item for item in monomials if np.any(item[1])), ((), np.ones_like(y))]
    columns = np.array([column for _, column in monomials])
    scale = np.sqrt((columns * columns).sum(axis=1))
    for first in range(len(monomials)):
        chosen = [first]
        while len(chosen) <= most:
            basis = columns[chosen].T
            weights, *_ = np.linalg.lstsq(basis / scale[chosen], y, rcond=None)
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
    weights, _, rank, _ = np.linalg.lstsq(columns / scale, y, rcond=None)
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
    if simple == 0 or abs(float(simple) - weight) > 1e-7 * abs(weight):
        return None
    above = (
        [str(simple.numerator)] if simple.numerator != 1 or not any(not name.startswith("/") for name in names) else []
    )
    text = "*".join([*above, *(name for name in names if not name.startswith("/"))])
    below = [name for name in names if name.startswith("/")] + (
        [f"/{simple.denominator}"] if simple.denominator != 1 else []
    )
    return text + "".join(below)


def _by_text(samples: Sequence[Sample]) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.label[0] if sample.label else "", []).append(sample)
    return found


def _usual(samples: Sequence[Sample]) -> list[Sample]:
    """The samples of which no number is 0 or odd, where there are enough."""
    found = [
        sample
        for sample in samples
        if not any(number(value) and value > 64 and value % 2 for value in sample.values.values())
    ]
    return found if len(found) >= _FEWEST else list(samples)


_Labelled = tuple[Sample, frozenset[str | None]]


class Learner:
    """Finds decisions.

    Args:
        features: keys that a decision may ask for.
        compared: pairs of keys of which how they compare may decide, where nothing else does.
    """

    def __init__(
        self, keys: Sequence[str], features: Sequence[str], compared: Sequence[str] = (), further: Sequence[str] = ()
    ) -> None:
        self.fitter, self.features, self.compared = Fitter(keys, further), features, compared

    def decide(self, samples: Sequence[Sample], where: Any) -> tuple[Any, int]:
        """The decision, and how many samples it leaves unexplained."""
        rules = self._rules(samples, where)
        labelled = [(sample, self._fitting(sample, rules)) for sample in samples]
        left = sum(labels == {UNRESOLVED} for _, labels in labelled)
        return self._parted(labelled, 0), left

    def _rules(self, samples: Sequence[Sample], where: Any) -> list[str]:
        """Rules of which at most one is needed for each sample, found where all switches are alike."""
        rest = [sample for sample in samples if sample.label is not None]
        fitted = [
            self.fitter.fit(group, where) or self.fitter.fit(_usual(group), where) for group in _by_text(rest).values()
        ]
        rules = [rule for rule in fitted if rule is not None]
        rest = [sample for sample in rest if self._fitting(sample, rules) == {UNRESOLVED}]
        while rest:
            _, group = max(self._contexts(rest).items(), key=_largest)
            rule = self.fitter.fit(group, where) or self.fitter.fit(_usual(group), where)
            rules += self._by_comparing(group, where) if rule is None else [rule]
            gone = {id(sample) for sample in group}
            rest = [
                sample for sample in rest if id(sample) not in gone and self._fitting(sample, rules) == {UNRESOLVED}
            ]
        return list(dict.fromkeys(rules))

    def _by_comparing(self, group: Sequence[Sample], where: Any) -> list[str]:
        """Rules of parts of a group, by how two keys compare."""
        for feature in self.compared:
            parts = _parts(group, feature)
            fitted = [self.fitter.fit(part, where) for part in parts.values()] if len(parts) > 1 else []
            if known := [rule for rule in fitted if rule is not None]:
                return known
        return []

    def _contexts(self, samples: Sequence[Sample]) -> dict[tuple[str, ...], list[Sample]]:
        found: dict[tuple[str, ...], list[Sample]] = {}
        for sample in samples:
            assert sample.label is not None
            context = (sample.label[0], *(feature_state(feature, sample.values) for feature in self.features))
            found.setdefault(context, []).append(sample)
        return found

    def _fitting(self, sample: Sample, rules: Sequence[str]) -> frozenset[str | None]:
        """The rules that give the label of a sample."""
        if sample.label is None:
            return frozenset([None, *(rule for rule in rules if _is_empty(rule, sample.values))])
        return frozenset(rule for rule in rules if _gives(rule, sample)) or frozenset([UNRESOLVED])

    def _parted(self, labelled: Sequence[_Labelled], depth: int) -> Any:
        """The decision between the rules."""
        common = frozenset.intersection(*(labels for _, labels in labelled))
        if common:
            return min(common, key=_simplest)
        if depth == _DEEPEST:
            return UNRESOLVED
        best: tuple[tuple[float, int], str, dict[str, list[_Labelled]]] | None = None
        alike: list[tuple[str, set[frozenset[int]]]] = []
        for features in (self.features, self.compared):
            for feature in features:
                parts = _parts_of(labelled, feature)
                if len(parts) > 1:
                    mixed = sum(map(_mixed, parts.values()))
                    alike.append((feature, _partition(parts)))
                    if best is None or (mixed, len(parts)) < best[0]:
                        best = ((mixed, len(parts)), feature, parts)
            if best and best[0][0] == 0:
                break
        if best is None or (best[0][0] >= _mixed(labelled) and depth > 2):
            return UNRESOLVED
        # What parts the probes in the same way may be what decides just as well: all of it has to be as it was probed.
        partition = _partition(best[2])
        others = [
            feature for feature, parted in alike if feature != best[1] and parted == partition and "<=>" not in feature
        ]
        feature = "&".join([best[1], *others[: _MOST_ALIKE - 1]]) if "<=>" not in best[1] else best[1]
        return self._grown(feature, _parts_of(labelled, feature), depth)

    def _grown(self, feature: str, parts: Mapping[str, Sequence[_Labelled]], depth: int) -> Any:
        return [feature, {now: self._parted(part, depth + 1) for now, part in parts.items()}]


def _partition(parts: Mapping[str, Sequence[_Labelled]]) -> set[frozenset[int]]:
    return {frozenset(id(sample) for sample, _ in part) for part in parts.values()}


def _parts_of(labelled: Sequence[_Labelled], feature: str) -> dict[str, list[_Labelled]]:
    parts: dict[str, list[_Labelled]] = {}
    for item in labelled:
        parts.setdefault(feature_state(feature, item[0].values), []).append(item)
    return parts


def _largest(item: tuple[Any, list[Sample]]) -> int:
    return len(item[1])


def _simplest(rule: str | None) -> tuple[int, str]:
    return len(rule or ""), rule or ""


def _parts(samples: Sequence[Sample], feature: str) -> dict[str, list[Sample]]:
    parts: dict[str, list[Sample]] = {}
    for sample in samples:
        parts.setdefault(feature_state(feature, sample.values), []).append(sample)
    return parts


def _mixed(part: Sequence[_Labelled]) -> int:
    """How many samples follow another rule than the most of their part."""
    counts: dict[str | None, int] = {}
    for _, labels in part:
        for rule in labels:
            counts[rule] = counts.get(rule, 0) + 1
    return len(part) - max(counts.values())


def _gives(rule: str, sample: Sample) -> bool:
    """Whether a rule gives the label of a sample, or does not answer."""
    assert sample.label is not None
    text, numbers = sample.label
    expressions = _expressions(rule, text)
    return expressions is not None and all(
        _holds(expression, sample, target, True) for expression, target in zip(expressions, numbers, strict=True)
    )


def _expressions(rule: str, text: str) -> list[str] | None:
    """The expressions of a rule in the places of a text; None if it is not of that text."""
    pattern = "".join(r"([\w.*/+-]+?)" if piece == "#" else re.escape(piece) for piece in re.split("(#)", text))
    match = _compiled(pattern).fullmatch(rule)
    return list(match.groups()) if match else None


def _is_empty(rule: str, values: Json) -> bool:
    """Whether a rule is about a range of no numbers, or a list without the word."""
    for place in filter(None, rule.partition("|")[2].split(";")):
        key, is_list, word = place.partition("=")
        if is_list:
            listed = values.get(key)
            if isinstance(listed, list) and word not in listed:
                return True
            continue
        try:
            start, stop = (evaluated(end, values.get) for end in place.split(":"))
        except Unprobed:
            continue
        if start == stop:
            return True
    return False


_compiled = lru_cache(4096)(re.compile)
