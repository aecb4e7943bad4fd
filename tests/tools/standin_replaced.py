"""How a configuration class replaces what keys hold, for tests/tools/standins.py."""

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

from standin_decisions import Learner
from standin_effects import SMALL
from standin_fits import Sample, Values
from standin_keys import is_short, shortened, taken_label
from standin_probes import Probe, Variants, value_at, with_value

from hfcount.architectures.recorded_rules import is_number, state

_MOST_COMPARED = 6
_FLOATS = {".", "0."}


class Replaced:
    """What a class makes of keys.

    Args:
        switches: the values of keys that may decide.
        say: prints how far it is.
        values: what was computed before.
    """

    def __init__(
        self, variants: Variants, switches: Sequence[tuple[str, Any]], say: Callable[[str], None], values: Values
    ) -> None:
        self.variants, self.builder = variants, variants.builder
        self.switches, self.say, self._values = switches, say, values

    def of(self, keys: Iterable[str], probes: Sequence[Probe]) -> dict[str, Any]:
        """The decisions on keys that a class does not take as they are given."""
        found = {key: self._decided(key, probes) for key in sorted(keys)}
        return {key: decision for key, decision in found.items() if decision is not None}

    def _decided(self, key: str, probes: Sequence[Probe]) -> Any:
        known = [probe for probe in (*probes, *self._settings(key)) if not is_short(probe, key)]
        labelled = [Sample(probe.given, taken_label(probe, key)) for probe in known]
        if all(sample.label == ("=", ()) for sample in labelled):
            return None
        numbers = sorted({name for probe in probes for name, value in probe.given.items() if is_number(value)})
        names = {name for sample in labelled for name in sample.values}
        seen = {name: {state(sample.values.get(name)) for sample in labelled} for name in sorted(names)}
        features = [key, *(name for name, states in seen.items() if len(states - _FLOATS) > 1 and name != key)]
        bearing = self._bearing(key)
        compared = [f"{one}<=>{other}" for one, other in combinations(bearing, 2)] + [f"{one}<=>1" for one in bearing]
        usual = {one: now for one in bearing if 0 < (now := value_at(self.variants.base, one)) <= SMALL}
        learner = Learner(numbers, features, compared=compared, usual=usual, values=self._values)
        decision, left, _ = learner.decide(labelled, key)
        if left:  # a number may be as given by chance, where it is made of others
            other = learner.decide(_as_numbers(labelled, known, key), f"{key} as a number")
            decision, left = other[:2] if len(other.unexplained) < len(left) else (decision, left)
        if left:
            self.say(f"not computed: {len(left)} of {len(labelled)} {key}: {json.dumps(decision)[:200]}")
        return shortened(decision)

    def _bearing(self, key: str) -> list[str]:
        """Numbers that alone change what the class makes of a key."""
        usual = self.variants.taken.get(key)
        bearing = [
            path
            for path in self.variants.numbers()
            if path != key
            and any(
                (made := self.builder.settings(with_value(self.variants.base, path, value)))
                and made.taken.get(key) != usual
                for value in self.variants.singles(path)
            )
        ]
        return bearing[:_MOST_COMPARED]

    def _settings(self, key: str) -> list[Probe]:
        """Configs with many layers, of which no model is built: how lists go on."""
        usual = self.variants.taken.get(key)
        if not (isinstance(usual, list) and usual and isinstance(usual[0], str)):
            return []
        found = []
        contexts = [self.variants.base, *(with_value(self.variants.base, *item) for item in self.switches)]
        contexts += [
            with_value(self.variants.base, path, value)
            for path in self.variants.numbers()
            for value in self.variants.singles(path)
        ]
        for place, context in enumerate(contexts):
            for many in (12, 17, 24, 31, 36, 48)[: 6 if not place else 2]:
                values = context
                for path in self.variants.numbers():
                    if value_at(self.variants.base, path) == len(usual):
                        values = with_value(values, path, many)
                if made := self.builder.settings(values):
                    found.append(made)
        return found


def _as_numbers(labelled: Sequence[Sample], probes: Sequence[Probe], key: str) -> list[Sample]:
    """The samples of what a class makes of a key, each number as one, also where it is as given."""
    return [
        sample._replace(label=("#", (taken,))) if type(taken := probe.taken.get(key)) is int else sample
        for sample, probe in zip(labelled, probes, strict=True)
    ]
