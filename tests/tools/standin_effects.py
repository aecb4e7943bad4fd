"""Which keys bear on which tensors, by probes that differ in one key alone, for tests/tools/standins.py."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from standin_decisions import Learner
from standin_fits import Values
from standin_keys import folded
from standin_probes import Builder, Probe

from hfcount.architectures.recorded_rules import is_number, state

_MOST_KEYS = 40
"""With more of them, rules are sought over those alone that bear on a row."""
_POWERS = (2, 4, 8, 16, 32, 64)
"""What a key may hold of which a class takes the logarithm, as of a factor that so many layers of step 2 make."""
_STEPS = (2, 3, 4)
"""In how many modules a sequence may repeat: a convolution, a norm, an activation."""
_STEP = re.compile(r"(step|freq|frequency|period|interval|stride|every\w*)$")
"""Keys that say how often a layer is of another kind."""
SMALL, _MOST_USUAL = 32, 12
"""Kernels, strides and factors are no greater, and not more of them bear on a tensor."""
_MOST_NUMBERS = 6
"""Below which the number at a brace is compared with numbers."""


class Group(NamedTuple):
    """Probes that differ in one key alone, by their places, and all keys that a class takes otherwise along with it."""

    places: tuple[int, ...]
    along: frozenset[str]


class Effects:
    """What a change of one key alone changes.

    Args:
        paths: the keys that were varied.
        base: the probe of which most others differ in one key.

    Attributes:
        groups: by key, those of which not all have the same tensors.
    """

    def __init__(
        self, probes: Sequence[Probe], builder: Builder, paths: Sequence[str], base: Probe, values: Values
    ) -> None:
        self.probes, self.values = probes, values
        self.groups = {key: found for key in paths if (found := list(_groups(probes, builder, key)))}
        self._coupled = frozenset(key for key in paths if key not in self.groups and _is_coupled(probes, builder, key))
        self._numbers = sorted({key for probe in probes for key, value in probe.taken.items() if is_number(value)})
        self._several = self._in_several_states()
        self._deciding = self._comparable(base)
        self._lists = _lists(probes)
        self._small = {key: value for key, value in base.taken.items() if type(value) is int and 0 < value <= SMALL}
        self._shares = {key for key, value in base.taken.items() if isinstance(value, float) and 0 < value < 1}
        self._doubled = {key for key in self._numbers if base.taken.get(key) in _POWERS}
        self._learners: dict[tuple[frozenset[str], frozenset[str], int], Learner] = {}

    def learner(self, labels: Mapping[int, Any] | None = None, braces: int = 0) -> Learner | None:
        """One that seeks among the keys that bear on these labels, by place, or on any tensor, if they are not many.

        With `braces`, what it seeks holds at the numbers of as many of them.
        """
        direct, along = self._bearing(labels)
        if labels is not None and not any(key in self._numbers for key in direct - self._coupled):
            every, _ = self._bearing(None)  # no number was changed alone where there is such a tensor
            direct = direct | every if len(every) <= _MOST_KEYS else direct
        if labels is None and len(direct) > _MOST_KEYS:
            return None
        if (direct, along, braces) not in self._learners:
            self._learners[(direct, along, braces)] = self._made(direct, along, braces)
        return self._learners[(direct, along, braces)]

    def _made(self, direct: frozenset[str], along: frozenset[str], braces: int) -> Learner:
        keys = [key for key in self._numbers if key in direct]
        lists = [key for key in self._lists if key in direct or f"{key}.0" in direct]
        derived = _derived(keys, lists, braces, [key for key in keys if _STEP.search(key)])
        further = [key for key in self._numbers if key in along]
        further += [f"{key}!log" for key in keys if key in self._doubled]
        further += [f"{key}!inv" for key in keys if key in self._shares]
        further += _derived((), [key for key in self._lists if key in along and key not in lists], braces).numbers
        return Learner(
            keys + derived.numbers,
            [key for key in self._several if key in direct] + derived.features,
            [key for key in self._several if key in along - direct],
            self._compared(keys) + derived.compared,
            further,
            usual if len(usual := {key: self._small[key] for key in keys if key in self._small}) <= _MOST_USUAL else {},
            self.values,
        )

    def _compared(self, keys: Sequence[str]) -> list[str]:
        """Comparisons of keys with 1, and in pairs."""
        deciding = [key for key in keys if key in self._deciding]
        pairs = ((one, other) for one in deciding for other in keys if one != other)
        return [f"{key}<=>1" for key in deciding] + [
            f"{one}<=>{other}" for one, other in pairs if other not in deciding or one < other
        ]

    def _bearing(self, labels: Mapping[int, Any] | None) -> tuple[frozenset[str], frozenset[str]]:
        direct: set[str] = set()
        along: set[str] = set()
        for key, groups in self.groups.items():
            for group in groups:
                if labels is None or len({labels.get(place) for place in group.places}) > 1:
                    direct.add(key)
                    along |= group.along
        return frozenset(direct) | self._coupled, frozenset(along)

    def _in_several_states(self) -> list[str]:
        seen: dict[str, set[str]] = {}
        for probe in self.probes:
            for key, value in probe.taken.items():
                seen.setdefault(key, set()).add(state(value))
        return sorted(key for key, states in seen.items() if len(states) > 1)

    def _comparable(self, base: Probe) -> set[str]:
        """Keys a change of which alone changed which tensors there are."""
        usual = folded(base)
        odd = {
            tensors
            for tensors, probe in {id(probe.tensors): probe for probe in self.probes}.items()
            if folded(probe) != usual
        }
        found: set[str] = set()
        for probe in self.probes:
            if id(probe.tensors) in odd:
                differing = [name for name in base.given if probe.given.get(name) != base.given[name]]
                if len({name.partition(".")[0] for name in differing}) == 1:
                    found.update(differing)
        return found


class _Derived(NamedTuple):
    """What is derived of keys: what may be in expressions, and what decisions may ask for."""

    numbers: list[str]
    features: list[str]
    compared: list[str]


def _derived(keys: Sequence[str], lists: Sequence[str], braces: int, steps: Sequence[str] = ()) -> _Derived:
    """What is derived of numbers and lists, at the numbers of some braces; some keys may say how often a layer is."""
    numbers = [f"{key}!{what}" for key in lists for what in ("len", "sum", "prod", "last")]
    features: list[str] = []
    compared: list[str] = []
    plain = [key for key in keys if not key[-1].isdecimal()]
    for place in range(braces):
        numbers += [f"!{place}{letter}" for letter in ("", "e", "f", "z")]
        numbers += [f"{key}!{place}{letter}" for key in lists for letter in ("", "p", "n", "r", "c", "h")]
        features += [f"!{place}", f"!{place}z", *(f"{key}!{place}" for key in lists)]
        features += [f"{key}!{place}{letter}" for key in plain for letter in ("m", "o")]
        features += [f"{step}!{place}{letter}" for step in _STEPS for letter in ("m", "o")]
        compared += [f"{step}!{place}m<=>1" for step in (*_STEPS[1:], *steps)]
        compared += [f"!{place}{letter}<=>{key}" for key in plain for letter in ("", "z")]
        compared += [f"!{place}<=>{number}" for number in range(1, _MOST_NUMBERS)]
        compared += [f"{key}!{place}<=>1" for key in lists]
    return _Derived(numbers, features, compared)


def _lists(probes: Sequence[Probe]) -> list[str]:
    """The keys of lists of numbers, switches or words."""
    seen = {id(value): key for probe in probes for key, value in probe.taken.items() if isinstance(value, list)}
    return sorted(set(seen.values()))


def _groups(probes: Sequence[Probe], builder: Builder, key: str) -> Iterable[Group]:
    """The groups of probes that differ in a key alone and have different tensors."""
    groups: dict[int, list[int]] = {}
    for place, probe in enumerate(probes):
        groups.setdefault(_rest(builder.hashes(probe), key), []).append(place)
    for places in groups.values():
        if len({id(probes[place].tensors) for place in places}) > 1:  # the same ones are one object
            yield Group(tuple(places), _differing([probes[place] for place in places]))


def _is_coupled(probes: Sequence[Probe], builder: Builder, key: str) -> bool:
    """Whether a number is varied, and never alone, as one that a class refuses without another one."""
    numbers = {probe.given.get(key) for probe in probes if is_number(probe.given.get(key))}
    rests = {_rest(builder.hashes(probe), key) for probe in probes}
    return len(numbers) > 1 and len(rests) == len(probes)


def _rest(hashes: Mapping[str, int], key: str) -> int:
    """A number that stands for all that a config holds but for a key, and for the list that it is a place of."""
    above = key.rpartition(".")[0] if key[-1].isdecimal() else ""
    left = sum(value for name, value in hashes.items() if name.startswith(f"{key}."))
    return hashes["*"] - hashes.get(key, 0) - hashes.get(above, 0) - left


def _differing(group: Sequence[Probe]) -> frozenset[str]:
    """The keys that a class takes otherwise in some probes than in others."""
    first = group[0].taken
    return frozenset(name for name in first if any(probe.taken.get(name) != first[name] for probe in group))
