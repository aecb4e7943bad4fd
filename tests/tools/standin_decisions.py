"""Finds decisions between the rules that hold for all probes, for tests/tools/standins.py."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from standin_fits import FEWEST, Fitter, Sample, Values

from hfcount.architectures.recorded_rules import UNRESOLVED, is_number

_DEEPEST = 6
_MOST_ALIKE = 4
_ODD_SHARE, _OFTEN = 8, 8
"""Where more than this share of the probes is not explained, a rule has to hold for so many others."""
_LEAST_BEYOND = 3
"""How many samples tell from which number on a rule holds no more; fewer may be beyond all others by chance."""
_MOST_COMPARED = 24
"""How many comparisons of two keys are tried to find rules; any may decide between rules."""


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
        if not any(is_number(value) and value > 64 and value % 2 for value in sample.values.values())
    ]
    return found if len(found) >= FEWEST else list(samples)


_Labelled = tuple[Sample, frozenset[str | None]]


class Decided(NamedTuple):
    """A decision.

    Args:
        unexplained: the places of the samples that it does not answer.
        without_rule: the places of those that no rule holds for.
    """

    decision: Any
    unexplained: list[int]
    without_rule: list[int]


class Learner:
    """Finds decisions.

    Args:
        features: keys that a decision may ask for.
        made: keys that a class sets along with others, which may decide where those do not.
        compared: pairs of keys of which how they compare may decide, where nothing else does.
        usual: what small numbers usually are: where no rule holds for others, one may for these.
        values: what was computed before.
    """

    def __init__(
        self,
        keys: Sequence[str],
        features: Sequence[str],
        made: Sequence[str] = (),
        compared: Sequence[str] = (),
        further: Sequence[str] = (),
        usual: Mapping[str, int] = MappingProxyType({}),
        values: Values | None = None,
    ) -> None:
        self.values = values or Values()
        self.fitter = Fitter(keys, further, self.values)
        self.features, self.made, self.usual = features, made, usual
        self.compared = [*compared, *(f"{key}<=>{number}" for key, number in usual.items())]

    def decide(self, samples: Sequence[Sample], where: Any) -> Decided:
        """The decision between the rules that hold."""
        places = self._alike(samples)
        few = [samples[alike[0]] for alike in places]
        rules = self._rules(few, where)
        labelled = [(sample, self._fitting(sample, rules)) for sample in few]
        decision = self._parted(labelled, 0)
        if sum(self._leaf(decision, sample) == UNRESOLVED for sample in few) > len(few) // _ODD_SHARE:
            decision = self._often(decision, few)
        return Decided(
            decision,
            sorted(
                place
                for sample, alike in zip(few, places, strict=True)
                if self._leaf(decision, sample) == UNRESOLVED
                for place in alike
            ),
            sorted(
                place
                for (_, labels), alike in zip(labelled, places, strict=True)
                if labels == {UNRESOLVED}
                for place in alike
            ),
        )

    def _alike(self, samples: Sequence[Sample]) -> list[list[int]]:
        """The places of samples in which all keys that matter hold the same, and that have the same label."""
        texts = {sample.label[0] for sample in samples if sample.label}
        compared = (side for feature in self.compared for side in feature.split("<=>"))
        names = {*self.fitter.keys, *self.fitter.further, *self.features, *self.made, *compared}
        names.update(name for text in texts for name in re.findall(r"([\w.]+)=", text))
        ordered = sorted(name for name in names if not name.isdecimal())
        found: dict[tuple[Any, ...], list[int]] = {}
        for place, sample in enumerate(samples):
            held = (sample.values.get(name) for name in ordered)
            key = tuple((type(one), one) if not isinstance(one, list | dict) else str(one) for one in held)
            found.setdefault((sample.label, key), []).append(place)
        return list(found.values())

    def _leaf(self, decision: Any, sample: Sample) -> Any:
        while isinstance(decision, list):
            decision = decision[1][self.values.state(decision[0], sample.values)]
        return decision

    def _often(self, decision: Any, samples: Sequence[Sample]) -> Any:
        """A decision that leaves much open, without what holds for few probes: that may be by chance."""
        if not isinstance(decision, list):
            return decision if len(samples) >= _OFTEN else UNRESOLVED
        parts = self._parts(samples, decision[0])
        return [decision[0], {now: self._often(inner, parts.get(now, ())) for now, inner in decision[1].items()}]

    def _rules(self, samples: Sequence[Sample], where: Any) -> list[str]:
        """Rules of which at most one is needed for each sample, found where all switches are alike."""
        rest = [sample for sample in samples if sample.label is not None]
        fitted = [
            self.fitter.fit(group, where) or self.fitter.fit(_usual(group), where) for group in _by_text(rest).values()
        ]
        rules = [rule for rule in fitted if rule is not None]
        rest = [sample for sample in rest if not self._is_given(sample, rules)]
        while rest:
            _, group = max(self._contexts(rest).items(), key=_largest)
            rule = self.fitter.fit(group, where) or self.fitter.fit(_usual(group), where)
            rules += self._of_usual(group, where) or self._by_comparing(group, where) if rule is None else [rule]
            gone = {id(sample) for sample in group}
            rest = [sample for sample in rest if id(sample) not in gone and not self._is_given(sample, rules)]
        return list(dict.fromkeys(rules))

    def _of_usual(self, group: Sequence[Sample], where: Any) -> list[str]:
        """The rule of the part of a group in which all small numbers are the usual ones."""
        part = [
            sample for sample in group if all(sample.values.get(key) == number for key, number in self.usual.items())
        ]
        rule = self.fitter.fit(part, where) if 0 < len(part) < len(group) else None
        return [] if rule is None else [rule]

    def _by_comparing(self, group: Sequence[Sample], where: Any) -> list[str]:
        """Rules of parts of a group, by how two keys compare."""
        for feature in self.compared[:_MOST_COMPARED]:
            parts = self._parts(group, feature)
            fitted = [self.fitter.fit(part, where) for part in parts.values()] if len(parts) > 1 else []
            if known := [rule for rule in fitted if rule is not None]:
                return known
        return []

    def _contexts(self, samples: Sequence[Sample]) -> dict[tuple[str, ...], list[Sample]]:
        found: dict[tuple[str, ...], list[Sample]] = {}
        for sample in samples:
            assert sample.label is not None
            context = (sample.label[0], *(self.values.state(feature, sample.values) for feature in self.features))
            found.setdefault(context, []).append(sample)
        return found

    def _fitting(self, sample: Sample, rules: Sequence[str]) -> frozenset[str | None]:
        """The rules that give the label of a sample."""
        if sample.label is None:
            return frozenset([None, *(rule for rule in rules if self._is_empty(rule, sample))])
        giving = {rule: known for rule in rules if (known := self._gives(rule, sample)) is not None}
        sure = frozenset(rule for rule, known in giving.items() if known)
        return sure or frozenset(giving) or frozenset([UNRESOLVED])

    def _parted(self, labelled: Sequence[_Labelled], depth: int) -> Any:
        """The decision between the rules."""
        common = frozenset.intersection(*(labels for _, labels in labelled))
        if common:
            return min(common, key=_simplest)
        if depth == _DEEPEST:
            return UNRESOLVED
        best: tuple[tuple[int, int, int], str, dict[str, list[_Labelled]]] | None = None
        alike: list[tuple[str, dict[str, list[_Labelled]]]] = []
        thresholds: dict[str, str] = {}
        for features in (self.features, self.made, self.compared, None):
            thresholds = self._thresholds(labelled) if features is None else {}
            for feature in thresholds if features is None else features:
                parts = self._parts_of(labelled, feature)
                if len(parts) > 1:
                    mixed = list(map(_mixed, parts.values()))
                    left = sum(len(part) for part, odd in zip(parts.values(), mixed, strict=True) if odd)
                    alike.append((feature, parts))
                    rank = sum(mixed), left, len(parts)  # what stays undecided is best left to few states
                    if best is None or rank < best[0]:
                        best = (rank, feature, parts)
            if best and best[0][0] == 0:
                break
        if best is None or (best[0][0] >= _mixed(labelled) and depth > 2):
            return UNRESOLVED
        # What parts the probes in the same way may be what decides just as well: all of it has to be as it was probed.
        others = [
            feature
            for feature, parts in alike
            if feature != best[1] and "<=>" not in feature and _is_same_partition(parts, best[2])
        ]
        feature = "&".join([best[1], *others[: _MOST_ALIKE - 1]]) if "<=>" not in best[1] else best[1]
        return self._grown(feature, self._parts_of(labelled, feature), depth, thresholds.get(feature, ""))

    def _thresholds(self, labelled: Sequence[_Labelled]) -> dict[str, str]:
        """Comparisons of keys with numbers beyond which no rule holds, or there is nothing, and the states left open.

        Between the last number with something and the first with nothing all is left open.
        """
        usual = _most_often(labelled)
        odd = [sample for sample, labels in labelled if usual not in labels]
        rest = [sample for sample, labels in labelled if usual in labels]
        is_open = all(labels == {UNRESOLVED} for _, labels in labelled if usual not in labels)
        is_absence = all(None in labels for _, labels in labelled if (usual in labels) == (usual is None))
        if not _LEAST_BEYOND <= len(odd) < len(rest) or not (is_open or is_absence):
            return {}
        found: dict[str, str] = {}
        for key in self.fitter.keys:
            held = [[sample.values.get(key) for sample in part] for part in (odd, rest)]
            if "!" in key or not all(type(value) is int and value >= 0 for part in held for value in part):
                continue
            (least, most), (low, high) = ((min(part), max(part)) for part in held)
            if least > high:
                found[f"{key}<=>{high}"] = ">" if is_open or least > high + 1 else ""
            elif most < low:
                found[f"{key}<=>{low}"] = "<" if is_open or most < low - 1 else ""
            elif is_open and most >= high:
                found[f"{key}<=>{least}"] = ""
            elif is_open and least <= low:
                found[f"{key}<=>{most}"] = ""
        return found

    def _grown(self, feature: str, parts: Mapping[str, Sequence[_Labelled]], depth: int, left: str = "") -> Any:
        return [
            feature,
            {now: UNRESOLVED if now == left else self._parted(part, depth + 1) for now, part in parts.items()},
        ]

    def _parts_of(self, labelled: Sequence[_Labelled], feature: str) -> dict[str, list[_Labelled]]:
        parts: dict[str, list[_Labelled]] = {}
        for item in labelled:
            parts.setdefault(self.values.state(feature, item[0].values), []).append(item)
        return parts

    def _parts(self, samples: Sequence[Sample], feature: str) -> dict[str, list[Sample]]:
        parts: dict[str, list[Sample]] = {}
        for sample in samples:
            parts.setdefault(self.values.state(feature, sample.values), []).append(sample)
        return parts

    def _gives(self, rule: str, sample: Sample) -> bool | None:
        """Whether a rule gives the label of a sample: False if it does not answer, None if it gives another."""
        assert sample.label is not None
        text, numbers = sample.label
        expressions = _expressions(rule, text)
        if expressions is None:
            return None
        results = [self.values.result(expression, sample.values) for expression in expressions]
        if any(result not in (target, None) for result, target in zip(results, numbers, strict=True)):
            return None
        return None not in results

    def _is_given(self, sample: Sample, rules: Sequence[str]) -> bool:
        """Whether a rule answers the label of a sample."""
        return any(self._gives(rule, sample) for rule in rules)

    def _is_empty(self, rule: str, sample: Sample) -> bool:
        """Whether a rule is about a range of no numbers, or a list without the word."""
        for place in filter(None, rule.partition("|")[2].split(";")):
            key, is_list, word = place.partition("=")
            if is_list:
                listed = sample.values.get(key)
                if isinstance(listed, list) and word not in listed:
                    return True
                continue
            start, stop = (self.values.result(end, sample.values) for end in place.split(":"))
            if start is not None and start == stop:
                return True
        return False


def _is_same_partition(parts: Mapping[str, Sequence[_Labelled]], other: Mapping[str, Sequence[_Labelled]]) -> bool:
    sizes = [sorted(map(len, one.values())) for one in (parts, other)]
    return sizes[0] == sizes[1] and _partition(parts) == _partition(other)


def _partition(parts: Mapping[str, Sequence[_Labelled]]) -> set[frozenset[int]]:
    return {frozenset(id(sample) for sample, _ in part) for part in parts.values()}


def _largest(item: tuple[Any, list[Sample]]) -> int:
    return len(item[1])


def _simplest(rule: str | None) -> tuple[int, str]:
    return len(rule or ""), rule or ""


def _mixed(part: Sequence[_Labelled]) -> int:
    """How many samples follow another rule than the most of their part."""
    return len(part) - max(_counts(part).values())


def _most_often(part: Sequence[_Labelled]) -> str | None:
    """The rule that most samples of a part follow."""
    counts = _counts(part)
    return max(counts, key=lambda rule: counts[rule])


def _counts(part: Sequence[_Labelled]) -> dict[str | None, int]:
    counts: dict[str | None, int] = {}
    for _, labels in part:
        for rule in labels:
            counts[rule] = counts.get(rule, 0) + 1
    return counts


def _expressions(rule: str, text: str) -> list[str] | None:
    """The expressions of a rule in the places of a text; None if it is not of that text."""
    pattern = "".join(r"([\w.*/+!^-]+?)" if piece == "#" else re.escape(piece) for piece in re.split("(#)", text))
    match = _compiled(pattern).fullmatch(rule)
    return list(match.groups()) if match else None


_compiled = lru_cache(4096)(re.compile)
