"""Folds the tensors of many probes into rows, for tests/tools/standins.py."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

from standin_fits import Sample
from standin_probes import Probe, is_words

from hfcount.architectures.recorded_rules import UNRESOLVED, At

Json = dict[str, Any]
Label = tuple[str, tuple[int, ...]]
Entries = dict[tuple[int, ...], tuple[int, ...]]
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")
_MOST_LITERAL = 32
_UNFOLDED: Label = (UNRESOLVED, ())


class Row(NamedTuple):
    """Tensors of a folded name and a kind.

    Args:
        labels: by the place of a probe, the text and the numbers of its rule; none where it has no such tensor.
        at: the braces of the name whose numbers a rule may hold; then the labels only tell probes apart.
        each: by the place of a probe, and the numbers at those braces, what `labels` has otherwise.
        all_numbers: by the place of a probe, which numbers all that begins with the same name has at those braces.
        entries: by the place of a probe, the shapes by numbers; `prefixes` are those of all beginnings of names.
        filled: the braces, one after the other, that were filled with a number.
    """

    name: str
    kind: str
    labels: dict[int, Label]
    at: tuple[int, ...] = ()
    each: Mapping[int, Mapping[tuple[int, ...], Label]] = MappingProxyType({})
    all_numbers: Mapping[int, set[tuple[int, ...]]] = MappingProxyType({})
    entries: Mapping[int, Entries] = MappingProxyType({})
    prefixes: "_Prefixes" = MappingProxyType({})
    filled: tuple[tuple[int, int], ...] = ()


def rows(probes: Sequence[Probe]) -> list[Row]:
    """All tensors of the probes, folded."""
    places: dict[int, list[int]] = {}
    for place, probe in enumerate(probes):
        places.setdefault(id(probe.tensors), []).append(place)
    found: dict[tuple[str, str], dict[int, Entries]] = {}
    prefixes: dict[str, dict[int, set[tuple[int, ...]]]] = {}
    for alike in places.values():
        mine: dict[tuple[str, str], Entries] = {}
        for name, (shape, kind) in (probes[alike[0]].tensors or {}).items():
            numbers = tuple(map(int, _NUMBER.findall(name)))
            mine.setdefault((_NUMBER.sub("{}", name), kind), {})[numbers] = shape
        for row, entries in mine.items():
            found.setdefault(row, {}).update(dict.fromkeys(alike, entries))
            pieces = row[0].split("{}")
            for many in range(1, len(pieces)):
                seen = prefixes.setdefault("{}".join(pieces[:many]), {})
                known = seen.setdefault(alike[0], set())
                known.update(numbers[:many] for numbers in entries)
                seen.update(dict.fromkeys(alike, known))
    lists = _lists(probes)
    return [
        row for (name, kind), entries in found.items() for row in _folded(name, kind, entries, probes, lists, prefixes)
    ]


class Points:
    """The configs of probes with numbers at the braces of a name, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], At] = {}

    def at(self, values: Json, numbers: tuple[int, ...], ends: tuple[int, ...]) -> At:
        """A config with such numbers."""
        return self._known.setdefault((id(values), numbers, ends), At(values, numbers, ends))


def samples(row: Row, probes: Sequence[Probe], points: Points) -> list[Sample]:
    """The labels of a row under all probes."""
    return [Sample(points.at(probe.taken, (), ()), row.labels.get(place)) for place, probe in enumerate(probes)]


def ranges_and_samples(
    row: Row, probes: Sequence[Probe], points: Points
) -> tuple[list[list[tuple[int, Sample]]], list[tuple[int, Sample]]]:
    """The samples of the range at each brace of a row, and those of its rule, with the places of their probes."""
    ranges: list[list[tuple[int, Sample]]] = [[] for _ in row.at]
    inner: list[tuple[int, Sample]] = []
    for place, probe in enumerate(probes):
        known = {tuple(index[at] for at in row.at) for index in row.all_numbers.get(place, ())}
        contexts = [points.at(probe.taken, (), ())]
        for depth, samples_ in enumerate(ranges):
            further = []
            for context in contexts:
                seen = {index[depth] for index in known if index[:depth] == context.numbers}
                samples_.append((place, Sample(context, ("#:#", (min(seen), max(seen) + 1)) if seen else None)))
                further += [
                    points.at(probe.taken, (*context.numbers, number), (*context.ends, max(seen) + 1))
                    for number in (range(min(seen), max(seen) + 1) if seen else ())
                ]
            contexts = further
        each = row.each.get(place, {})
        inner += [(place, Sample(context, each.get(context.numbers))) for context in contexts]
    return ranges, inner


def literal(row: Row, probes: Sequence[Probe], place: int) -> list[Row]:
    """The rows with each number at one of the braces written out; none if these are many."""
    entries, prefixes = row.entries, row.prefixes
    numbers = {index[place] for found in entries.values() for index in found}
    if len(numbers) > _MOST_LITERAL:
        return []
    made: list[Row] = []
    for number in sorted(numbers):
        inner: dict[int, Entries] = {}
        alike: dict[int, Entries] = {}
        for probe, found in entries.items():
            if id(found) not in alike:
                alike[id(found)] = {
                    _without(index, place): shape for index, shape in found.items() if index[place] == number
                }
            if alike[id(found)]:
                inner[probe] = alike[id(found)]
        made += _folded(
            _filled(row.name, place, number),
            row.kind,
            inner,
            probes,
            _lists(probes),
            prefixes,
            (*row.filled, (place, number)),
        )
    return made


def _without(index: tuple[int, ...], place: int) -> tuple[int, ...]:
    return index[:place] + index[place + 1 :]


def _filled(name: str, place: int, number: int) -> str:
    """The name with a number in one of its braces."""
    pieces = name.split("{}")
    return "{}".join(pieces[: place + 1]) + str(number) + "{}".join(pieces[place + 1 :])


def _lists(probes: Sequence[Probe]) -> list[str]:
    """The keys of lists of words."""
    return sorted({key for probe in probes for key, value in probe.taken.items() if is_words(value)})


_Prefixes = Mapping[str, Mapping[int, set[tuple[int, ...]]]]


def _folded(
    name: str,
    kind: str,
    entries: Mapping[int, Entries],
    probes: Sequence[Probe],
    lists: Sequence[str],
    prefixes: _Prefixes,
    filled: tuple[tuple[int, int], ...] = (),
) -> list[Row]:
    """The rows of one folded name: as ranges, else parted by the words of a list, else by numbers."""
    whole = Row(name, kind, {}, entries=entries, prefixes=prefixes, filled=filled)
    options = [_as_ranges(whole)]
    if options[0][1]:
        places = name.count("{}")
        options += [_by_words(name, kind, entries, probes, place, key) for key in lists for place in range(places)]
        if not any(not failed for _, failed in options):
            options += _at_numbers(whole)
    return min(options, key=_failures)[0]


def otherwise(row: Row, probes: Sequence[Probe]) -> Iterator[list[Row]]:
    """Other rows for what is a row of ranges, where no rule is found for that: with rules at each number."""
    if row.at or not row.entries or "{}" not in row.name:
        return
    yield min(_at_numbers(row), key=_failures)[0]


def _at_numbers(row: Row) -> list[tuple[list[Row], int]]:
    """One row whose rule holds numbers of its name: as few of them as needed."""
    places, options = row.name.count("{}"), []
    for many in range(1, places + 1):
        for at in combinations(range(places), many):
            boxes: dict[int, tuple[dict[tuple[int, ...], Label], int]] = {}
            each, failed = {}, 0
            for place, found in row.entries.items():
                if id(found) not in boxes:
                    boxes[id(found)] = _boxes(found, at)
                each[place], odd = boxes[id(found)]
                failed += odd
            texts = {key: ("at", tuple(sorted(found.items()))) for key, (found, _) in boxes.items()}
            labels = {place: texts[id(found)] for place, found in row.entries.items()}
            numbers = _all_numbers(row, at[-1])
            options.append(([row._replace(labels=labels, at=at, each=each, all_numbers=numbers)], failed))
        if any(not failed for _, failed in options):
            break
    return options


def _all_numbers(row: Row, last: int) -> Mapping[int, set[tuple[int, ...]]]:
    """The numbers up to a brace of all names that begin like a row's, by probe."""
    fixed: dict[int, int] = {}
    for place, number in reversed(row.filled):  # the braces as they were
        fixed = {where + (where >= place): what for where, what in fixed.items()} | {place: number}
    pieces = _unfilled(row.name).split("{}")
    open_ = [place for place in range(len(pieces) - 1) if place not in fixed]
    whole = open_[last] + 1
    seen = row.prefixes["{}".join(pieces[:whole])]
    made: dict[int, set[tuple[int, ...]]] = {}
    known: dict[int, set[tuple[int, ...]]] = {}
    for place, numbers in seen.items():
        if id(numbers) not in known:
            known[id(numbers)] = {
                tuple(index[at] for at in open_[: last + 1])
                for index in numbers
                if all(index[at] == what for at, what in fixed.items() if at < whole)
            }
        made[place] = known[id(numbers)]
    return made


def _unfilled(name: str) -> str:
    """The name with braces in place of the numbers that were written out."""
    return _NUMBER.sub("{}", name)


def _boxes(entries: Entries, at: tuple[int, ...]) -> tuple[dict[tuple[int, ...], Label], int]:
    """The box at each of the numbers at some braces, and whether some are none."""
    parted: dict[tuple[int, ...], Entries] = {}
    for index, shape in entries.items():
        rest = tuple(number for place, number in enumerate(index) if place not in at)
        parted.setdefault(tuple(index[place] for place in at), {})[rest] = shape
    found = {index: _box(inner) for index, inner in parted.items()}
    return {index: box or _UNFOLDED for index, box in found.items()}, None in found.values()


def _failures(option: tuple[list[Row], int]) -> int:
    return option[1]


def _as_ranges(row: Row) -> tuple[list[Row], int]:
    boxes = {id(found): _box(found) or _UNFOLDED for found in row.entries.values()}
    labels = {place: boxes[id(found)] for place, found in row.entries.items()}
    return [row._replace(labels=labels)], sum(label == _UNFOLDED for label in labels.values())


def _box(entries: Entries, fixed: Mapping[int, str] | None = None) -> Label | None:
    """All combinations of ranges, of one shape; `fixed` gives the texts of places that are no range."""
    shapes = set(entries.values())
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    texts, numbers, many = [], list(shape), 1
    for place in range(len(next(iter(entries)))):
        known = {key[place] for key in entries}
        many *= len(known)
        if fixed and place in fixed:
            texts.append(fixed[place])
            continue
        low, high = min(known), max(known) + 1
        if len(known) != high - low:
            return None
        texts.append("#:#")
        numbers += [low, high]
    if many != len(entries):
        return None
    return ",".join("#" * len(shape)) + "|" + ";".join(texts), tuple(numbers)


def _by_words(
    name: str, kind: str, entries: Mapping[int, Entries], probes: Sequence[Probe], place: int, key: str
) -> tuple[list[Row], int]:
    """A row for each word of a list, of the numbers at which the list has it."""
    by_word: dict[str, dict[int, Label]] = {}
    failed = 0
    for number, found in entries.items():
        words = probes[number].taken.get(key)
        known = {index[place] for index in found}
        if not is_words(words) or max(known) >= len(words):
            return [], len(entries) + 1
        for word in {words[index] for index in known}:
            inner = {index: shape for index, shape in found.items() if words[index[place]] == word}
            label = _box(inner, {place: f"{key}={word}"})
            if {index[place] for index in inner} != {at for at, other in enumerate(words) if other == word}:
                label = None
            failed += label is None
            by_word.setdefault(word, {})[number] = label or _UNFOLDED
    return [Row(f"{name}", f"{kind}\0{key}={word}", labels) for word, labels in by_word.items()], failed
