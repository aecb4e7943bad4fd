"""What a record says of keys, and how decisions and computed values are written, for tests/tools/standins.py."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from reference import NO_SHAPE
from standin_probes import IDS, NOT_VARIED, Probe
from standin_rows import Label

from hfcount.architectures.recorded_rules import OTHERS, is_number, state
from hfcount.mapper.keys_without_shape import is_shapeless

Json = dict[str, Any]

_ALIKE = 4
_SHORT = 12


def shortened(decision: Any) -> Any:
    """The same with what most states of a key lead to said once."""
    if isinstance(decision, dict):
        return {**decision, "of": [shortened(one) for one in decision["of"]], "rule": shortened(decision["rule"])}
    if not isinstance(decision, list):
        return decision
    feature, by_state = decision[0], {now: shortened(inner) for now, inner in decision[1].items()}
    texts = [json.dumps(inner) for inner in by_state.values()]
    usual = max(texts, key=texts.count)
    if texts.count(usual) < _ALIKE or not feature.replace("_", "").replace(".", "").isalnum():
        return [feature, by_state]
    rest = {now: inner for now, inner in by_state.items() if json.dumps(inner) != usual}
    return [feature, {**rest, OTHERS: json.loads(usual)}]


def folded(probe: Probe) -> set[tuple[str, str]]:
    return {(re.sub(r"\d+", "#", name), kind) for name, (_, kind) in (probe.tensors or {}).items()}


def is_short(probe: Probe, key: str) -> bool:
    """Whether a class made a list that is too short to tell what it repeats."""
    taken = probe.taken.get(key)
    return isinstance(taken, list) and len(taken) < _SHORT and taken != probe.given.get(key)


def taken_label(probe: Probe, key: str) -> Label | None:
    given, taken = probe.given.get(key), probe.taken.get(key)
    if given == taken and type(given) is type(taken):
        return "=", ()
    if taken is None or isinstance(taken, bool | str):
        return f"={json.dumps(taken)}", ()
    if isinstance(taken, int):
        return "#", (taken,)
    if isinstance(taken, list) and taken and all(isinstance(item, str) for item in taken):
        return _runs(taken)
    if isinstance(taken, list) and taken and all(type(item) is int for item in taken):
        return "%" + ",".join("#" * len(taken)), tuple(taken)
    if isinstance(taken, list) and all(isinstance(item, bool) for item in taken):
        return f"={json.dumps(taken)}", ()
    return None if isinstance(taken, list | dict) else ("?", ())


def _runs(words: list[str]) -> Label:
    """A list as how long it is, and what it repeats: words, and how often each."""
    period = next(
        many
        for many in range(1, len(words) + 1)
        if all(words[at] == words[at - many] for at in range(many, len(words)))
    )
    runs: list[tuple[str, int]] = []
    for word in words[:period]:
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return "~#" + "".join(f";{word}:#" for word, _ in runs), (len(words), *(many for _, many in runs))


def one_of_each(items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The first value of each state of each key."""
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for path, value in items:
        found.setdefault((path, state(value)), (path, value))
    return list(found.values())


def used_keys(decisions: Iterable[Any]) -> set[str]:
    """The keys that decisions ask for."""
    found: set[str] = set()

    def walk(decision: Any) -> None:
        if isinstance(decision, dict):
            for inner in (*decision["of"], decision["rule"]):
                walk(inner)
        elif isinstance(decision, list):
            found.update(key.partition("!")[0] for key in re.split("&|<=>", decision[0]))
            for inner in decision[1].values():
                walk(inner)
        elif isinstance(decision, str):
            plain = re.sub(r"![0-9a-z]+", "", re.sub(r"=[^;]*", "=", decision))
            found.update(re.findall(r"[A-Za-z_][\w.]*(?==)|[A-Za-z_][\w.]*", plain))

    for decision in decisions:
        walk(decision)
    return {key for key in found if key and not key.isdecimal()}


def about_keys(defaults: Json, beside: Sequence[str], probes: Sequence[Probe], used: set[str]) -> Json:
    """What a record says of keys; `beside` are those that a class sets without declaring them."""
    states = _states(probes, used)
    return {
        "defaults": {key: value for key, value in defaults.items() if key in used},
        "declared": " ".join(dict.fromkeys([*(key for key in defaults if key not in used), *beside])),
        "spans": {
            key: [low, high]
            for key, (low, high) in _spans(probes).items()
            if key in used
            or (key[-1].isdecimal() and key.rpartition(".")[0] in used)
            or (low == high and key in states)
        },
        "states": states,
    }


def _spans(probes: Sequence[Probe]) -> dict[str, list[float]]:
    """The least and the greatest of the numbers of each key."""
    found: dict[str, list[float]] = {}
    for probe in probes:
        for key, value in probe.given.items():
            if is_number(value):
                low, high = found.get(key, [value, value])
                found[key] = [min(low, value), max(high, value)]
    return found


def _states(probes: Sequence[Probe], used: set[str]) -> dict[str, str]:
    """The states that were probed, of keys that bear on tensors, or may in other types."""
    found: dict[str, set[str]] = {}
    for probe in probes:
        for key, value in probe.given.items():
            name = key.rpartition(".")[2] if not key[-1].isdecimal() else key
            if name in NOT_VARIED:
                continue
            if key in used or not (is_shapeless(name) or NO_SHAPE.search(name) or IDS.search(name)):
                found.setdefault(key, set()).add(state(value))
    return {key: "|".join(sorted(states)) for key, states in sorted(found.items())}
