"""Blueprints that were recorded by building models, for types that no family describes.

A file of recorded/ holds what one class of a version of transformers builds: rows of tensors, whose shapes and numbers
are expressions over keys, and decisions between them by what keys hold. What was never probed is not answered.

An expression is a sum of products and quotients, such as `2*hidden_size*expand+n_groups/2`; `a//b` is rounded down, and
so is `a^b//c^c`, the product of a and b divided by the square of c. A
decision is the rule that holds, or `[FEATURE, {STATE: decision}]`: a FEATURE is a key, whose state `state` gives, `a&b`
for the states of several, or `a<=>b`, which compares two, or a key with a number. A row whose extents differ with a
number in its names has `{"at": places, "of": decisions, "rule": decision}`: which braces, what range each has, and
what holds at each number. `!` makes further values of a key, which `derived` explains: `sizes!0` is the item of a list
that stands at the number of the first brace.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hfcount.architectures.recorded_rules import At, Decision, Unprobed, decided, derived, evaluated, is_number, state
from hfcount.architectures.registry import is_recorded
from hfcount.record import Record

FOLDER = Path(__file__).with_name("recorded")


_MOST_NUMBERS = 10_000
"""Of numbers in names that have a row each; more of them would be written out for nothing."""

_LONGEST = 100_000
"""Entries of a list that a class makes by itself; a longer one would be written out for nothing."""


class StandIn(Record):
    """What was recorded of one class.

    Args:
        model_type, architecture: the type and its class.
        version: of transformers, which built the models.
        base: the name of the base model in the class, with a final dot; "" if it has none.
        parts: the keys of nested configs, by path.
        names: further names of keys, by path.
        defaults: what an absent key means, by path, of the keys that bear on tensors.
        unprobed: the paths of keys that mean something else where the nested config that lacks them is given.
        nulls: the paths of those that are then as if they were null.
        declared: the paths of all further keys that the class has, between blanks.
        spans: the least and the greatest number that was probed, by path; one that was not varied is not answered.
        states: all states that were probed, by path; of keys that bear on no tensor, too.
        computed: how the class replaces what a key holds, by path.
        lengths: the path of the number that a list has to be as long as, by the list's.
        rows: names with `{}` for numbers, between blanks, what kind the tensors are, and the decision on their extents.
    """

    model_type: str
    architecture: str
    version: str
    base: str = ""
    parts: tuple[str, ...] = ()
    names: Mapping[str, str]
    defaults: Mapping[str, Any]
    unprobed: Sequence[str] = ()
    nulls: Sequence[str] = ()
    declared: str
    spans: Mapping[str, Sequence[float]]
    states: Mapping[str, str]
    computed: Mapping[str, Decision]
    lengths: Mapping[str, str] = MappingProxyType({})
    rows: Sequence[tuple[str, str, Decision]]


class RecordedRow(NamedTuple):
    """Tensors of one shape, in elements; `numbers` are those at the braces of the name, a range or a list for each."""

    name: str
    kind: str
    shape: tuple[int, ...]
    numbers: tuple[range | tuple[int, ...], ...]


@lru_cache(64)
def stand_ins(model_type: str) -> Mapping[str, StandIn]:
    """What was recorded of the classes of a type, by class, the usual one first."""
    if not is_recorded(model_type):
        return {}
    rows = json.loads((FOLDER / f"{model_type}.json").read_text(encoding="utf-8"))
    return {row["architecture"]: StandIn(**row) for row in rows}


def types() -> list[str]:
    """Every model_type that was recorded."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def flattened(values: Mapping[str, Any], parts: Sequence[str], path: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of a config and of those nested in it, by path, with the numbers of a list by their places."""
    for key, value in values.items():
        name = f"{path}{key}"
        if name in parts and isinstance(value, Mapping):
            yield from flattened(value, parts, f"{name}.")
            continue
        yield name, value
        if isinstance(value, list | tuple) and value and all(type(item) in (int, float) for item in value):
            yield from ((f"{name}.{place}", item) for place, item in enumerate(value))


class Reading:
    """A config as a class takes it.

    Args:
        given: its keys by path, with the recorded defaults where they are absent.

    Attributes:
        unknown: those that the class does not declare.
    """

    def __init__(self, known: StandIn, given: Mapping[str, Any]) -> None:
        self.known, self.given = known, given
        declared = {*known.defaults, *known.declared.split()}
        self.unknown = {
            key: value for key, value in given.items() if declared.isdisjoint((key, key.rpartition(".")[0]))
        }
        self._values: dict[str, Any] = {}
        self._derived: dict[str, Any] = {}

    def value(self, key: str) -> Any:
        """What the class makes of a key.

        Raises:
            Unprobed: that is not known.
        """
        if "!" in key:
            if key not in self._derived:
                self._derived[key] = derived(key, self.value, (), ())
            return self._derived[key]
        if key not in self._values:
            value = self.given.get(key)
            if key in self.known.computed:
                value = self._computed(key, self.known.computed[key], value)
            self._values[key] = value
        return self._values[key]

    def _computed(self, key: str, rule: Decision, value: Any) -> Any:
        rule = decided(rule, self.given)
        if rule is None:
            raise Unprobed(f"what {key} is follows no rule that was found")
        if rule == "=":
            return value
        if rule.startswith("%"):
            return [evaluated(item, self.given.get) for item in rule[1:].split(",")]
        if rule.startswith("="):
            return json.loads(rule[1:])
        if rule.startswith("~"):
            length, *runs = rule[1:].split(";")
            pairs = [run.split(":") for run in runs]
            counts = [evaluated(count, self.given.get) for _, count in pairs]
            many = evaluated(length, self.given.get)
            if max(many, *counts) > _LONGEST:
                raise Unprobed(f"{key} would have {max(many, *counts):,} entries, more than {_LONGEST:,}")
            once = [word for (word, _), count in zip(pairs, counts, strict=True) for _ in range(count)]
            return (once * (many // max(len(once), 1) + 1))[:many]
        return evaluated(rule, self.given.get)

    def __getitem__(self, key: str) -> Any:
        return self.value(key)

    def get(self, key: str) -> Any:
        """The same as `value`, as mappings have it."""
        return self.value(key)


def _was_probed(value: Any, states: Sequence[str]) -> bool:
    """Whether a value is in a state that was probed, or a list of words that were."""
    now = state(value)
    if now in states:
        return True
    words = {word for probed in states if probed[:1] == "[" for word in probed[1:-1].split()}
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) and item in words for item in value)


def rows(reading: Reading) -> Iterator[RecordedRow]:
    """The rows of tensors of a config.

    Raises:
        Unprobed: what a row is under this config was not probed.
    """
    for names, kind, decision in reading.known.rows:
        for row in _at_each(names, kind, decision, reading):
            yield from (row._replace(name=name) for name in names.split())


def _at_each(names: str, kind: str, decision: Decision, reading: Reading) -> Iterator[RecordedRow]:
    """The row of a decision, or those at each number."""
    found, first = decided(decision, reading), names.partition(" ")[0]
    if not isinstance(found, Mapping):
        if found is not None and all(map(len, (row := _ruled(first, kind, found, reading)).numbers)):
            yield row
        return
    contexts = [At(reading, (), ())]
    for inner in found["of"]:
        contexts = [further for context in contexts for further in _numbered(inner, context)]
        if len(contexts) > _MOST_NUMBERS:
            raise Unprobed(f"{first} would have more than {_MOST_NUMBERS:,} numbers")
    for context in contexts:
        rule = decided(found["rule"], context)
        if rule is not None:
            row = _ruled(first, kind, rule, context)
            numbers = list(row.numbers)
            for place, number in zip(found["at"], context.numbers, strict=True):
                numbers.insert(place, range(number, number + 1))
            if all(map(len, numbers)):
                yield row._replace(numbers=tuple(numbers))


def _numbered(decision: Decision, context: At) -> Iterator[At]:
    """The numbers of one more brace."""
    rule = decided(decision, context)
    if rule is not None:
        numbers = _numbers(rule.removeprefix("|"), context)
        if len(numbers) > _MOST_NUMBERS:
            raise Unprobed(f"{len(numbers):,} numbers are more than {_MOST_NUMBERS:,}")
        for number in numbers:
            yield At(context.within, (*context.numbers, number), (*context.ends, numbers[-1] + 1))


def _ruled(name: str, kind: str, rule: str, values: Any) -> RecordedRow:
    extents, _, ends = rule.partition("|")
    shape = tuple(evaluated(extent, values.get) for extent in filter(None, extents.split(",")))
    if any(size < 0 for size in shape):
        raise Unprobed(f"{name} would have a size below 0")
    if kind.startswith("tied") and 0 in shape:  # it may be saved beside what it is tied to: it shares no bytes
        raise Unprobed(f"{name} is tied and has no elements, which was not probed")
    return RecordedRow(name, kind, shape, tuple(_numbers(place, values) for place in filter(None, ends.split(";"))))


def _numbers(place: str, values: Any) -> range | tuple[int, ...]:
    """The numbers `FROM:TO`, or those at which a list has a word, `LIST=WORD`."""
    key, is_list, word = place.partition("=")
    if is_list:
        return tuple(number for number, item in enumerate(values.get(key) or ()) if item == word)
    start, stop = (evaluated(end, values.get) for end in place.split(":"))
    if not 0 <= start <= stop:
        raise Unprobed(f"{place} is {start} to {stop}")
    return range(start, stop)


def read(known: StandIn, values: Mapping[str, Any]) -> Reading:
    """A config as a recorded class takes it.

    Raises:
        Unprobed: a key holds what was not probed.
    """
    given = {**dict.fromkeys(absent(known.nulls, values)), **_given(known, values)}
    for key, value in given.items():
        _check(known, key, value)
    for path in absent(known.unprobed, values):
        if path not in given:
            raise Unprobed(f"{path} is absent from a nested config, which was not probed")
    reading = Reading(known, {**known.defaults, **given})
    for path, number in known.lengths.items():
        if isinstance(listed := reading.given.get(path), list) and len(listed) != (many := reading.given.get(number)):
            raise Unprobed(
                f"{path} has {len(listed)} entries beside {number} = {json.dumps(many)}: that was not probed"
            )
    return reading


def _given(known: StandIn, values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a config by path, each by one name."""
    given: dict[str, Any] = {}
    if isinstance(labels := values.get("id2label"), Mapping):  # their number is what a class reads of them
        given["num_labels"] = len(labels)
    for key, value in flattened(values, known.parts):
        name = known.names.get(key, key)
        if name in given and given[name] != value:
            raise Unprobed(
                f"{name} stands there twice, {json.dumps(given[name])} and {json.dumps(value)}: that was not probed"
            )
        given[name] = value
    return given


def _check(known: StandIn, key: str, value: Any) -> None:
    """Refuses a state that was not probed, and another number where one alone was."""
    states = known.states.get(key)
    if states is not None and not _was_probed(value, states.split("|")):
        raise Unprobed(f"{key} = {json.dumps(value)} was not probed")
    least, most = known.spans.get(key, (None, None))
    if least is not None and least == most and is_number(value) and value != least:
        raise Unprobed(f"{key} = {json.dumps(value)}: nothing but {json.dumps(least)} was probed")


def absent(paths: Iterable[str], values: Any) -> list[str]:
    """The paths of keys that a config lacks whose nested config it has."""
    return [path for path in paths if _is_without(values, *path.rpartition(".")[::2])]


def _is_without(values: Any, part: str, key: str) -> bool:
    for name in part.split("."):
        values = values.get(name) if isinstance(values, Mapping) else None
    return isinstance(values, Mapping) and key not in values
