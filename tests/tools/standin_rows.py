"""Folds the tensors of many probes into rows, for tests/tools/standins.py."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from standin_fits import Sample
from standin_probes import Probe

from hfcount.architectures.stand_ins import UNRESOLVED

Json = dict[str, Any]
Label = tuple[str, tuple[int, ...]]
Entries = dict[tuple[int, ...], tuple[int, ...]]
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")
_MOST_LITERAL = 16
_UNFOLDED: Label = (UNRESOLVED, ())


class Row(NamedTuple):
    """Tensors of a folded name and a kind.

    Args:
        labels: by the place of a probe, the text and the numbers of its rule; none where it has no such tensor.
    """

    name: str
    kind: str
    labels: dict[int, Label]


def rows(probes: Sequence[Probe]) -> list[Row]:
    """All tensors of the probes, folded."""
    found: dict[tuple[str, str], dict[int, Entries]] = {}
    for place, probe in enumerate(probes):
        for name, (shape, kind) in (probe.tensors or {}).items():
            numbers = tuple(map(int, _NUMBER.findall(name)))
            row = found.setdefault((_NUMBER.sub("{}", name), kind), {})
            row.setdefault(place, {})[numbers] = shape
    lists = _lists(probes)
    return [row for (name, kind), entries in found.items() for row in _folded(name, kind, entries, probes, lists)]


def samples(row: Row, probes: Sequence[Probe]) -> list[Sample]:
    """The labels of a row under all probes."""
    return [Sample(probe.taken, row.labels.get(place)) for place, probe in enumerate(probes)]


def _lists(probes: Sequence[Probe]) -> list[str]:
    """The keys of lists of words."""
    return sorted({key for probe in probes for key, value in probe.taken.items() if _is_words(value)})


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _folded(
    name: str, kind: str, entries: Mapping[int, Entries], probes: Sequence[Probe], lists: Sequence[str]
) -> list[Row]:
    """The rows of one folded name: as ranges, else parted by the words of a list, else by numbers."""
    options = [_as_ranges(name, kind, entries)]
    if options[0][1]:
        places = name.count("{}")
        options += [_by_words(name, kind, entries, probes, place, key) for key in lists for place in range(places)]
        if not any(not failed for _, failed in options):
            options += [_by_number(name, kind, entries, probes, lists, place) for place in range(places)]
    return min(options, key=_failures)[0]


def _failures(option: tuple[list[Row], int]) -> int:
    return option[1]


def _as_ranges(name: str, kind: str, entries: Mapping[int, Entries]) -> tuple[list[Row], int]:
    labels = {place: _box(found) or _UNFOLDED for place, found in entries.items()}
    return [Row(name, kind, labels)], sum(label == _UNFOLDED for label in labels.values())


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
        if not _is_words(words) or max(known) >= len(words):
            return [], len(entries) + 1
        for word in {words[index] for index in known}:
            inner = {index: shape for index, shape in found.items() if words[index[place]] == word}
            label = _box(inner, {place: f"{key}={word}"})
            if {index[place] for index in inner} != {at for at, other in enumerate(words) if other == word}:
                label = None
            failed += label is None
            by_word.setdefault(word, {})[number] = label or _UNFOLDED
    return [Row(f"{name}", f"{kind}\0{key}={word}", labels) for word, labels in by_word.items()], failed


def _by_number(
    name: str,
    kind: str,
    entries: Mapping[int, Entries],
    probes: Sequence[Probe],
    lists: Sequence[str],
    place: int,
) -> tuple[list[Row], int]:
    """Rows for each number at one place."""
    numbers = {index[place] for found in entries.values() for index in found}
    if len(numbers) > _MOST_LITERAL:
        return [], len(entries) + 1
    made: list[Row] = []
    for number in sorted(numbers):
        inner = {
            probe: {_without(index, place): shape for index, shape in found.items() if index[place] == number}
            for probe, found in entries.items()
        }
        inner = {probe: found for probe, found in inner.items() if found}
        made += _folded(_filled(name, place, number), kind, inner, probes, lists)
    return made, sum(label == _UNFOLDED for row in made for label in row.labels.values())


def _without(index: tuple[int, ...], place: int) -> tuple[int, ...]:
    return index[:place] + index[place + 1 :]


def _filled(name: str, place: int, number: int) -> str:
    """The name with a number in one of its braces."""
    pieces = name.split("{}")
    return "{}".join(pieces[: place + 1]) + str(number) + "{}".join(pieces[place + 1 :])
