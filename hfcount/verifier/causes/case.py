"""A checkpoint that differs from its blueprint, and its differences under other configs."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Any, Literal

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build, draft
from hfcount.errors import BadSetting, ConfigError, UnknownArchitecture
from hfcount.formats import dtypes
from hfcount.mapper import Config
from hfcount.mapper.tracking import UNSAID
from hfcount.mapper.whatif import Changes, changed, get, steps
from hfcount.verifier.causes.hints import BY_DEFAULT
from hfcount.verifier.causes.modules import module_of
from hfcount.verifier.causes.stored_rows import MOST, Difference, StoredRows, compare
from hfcount.verifier.causes.whole_model import WholeParts, described, wholes
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import DIFFERING, Outcome

_KEPT = 64  # configs that were tried, with what they come to

_Tried = tuple[Blueprint, Difference] | ConfigError | None
"""The blueprint of a config, and the difference of the stored tensors; or its error; None for an unknown model."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a checkpoint differs.

    Args:
        codes: the codes of all findings that it explains.
        says: the observation, in sentences.
        fix: what to do, if that is proven.
        changes: what the config would have to say instead, by key; the first key is that of the finding.
        key: the key of the finding, if there are no changes.
        sole: whether nothing else is known that would explain it, so that the changes are what is right.
    """

    codes: Collection[str]
    says: str
    fix: str | None = None
    changes: Changes = field(default_factory=dict)
    key: str | None = None
    sole: bool = False


class _DefaultsNoted(Config):
    """A config that notes what is taken for keys that it lacks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._defaults: dict[str, Any] = {}

    def _find(self, names: tuple[str, ...], default: Any) -> tuple[Any, str | None]:
        value, name = super()._find(names, default)
        if names and (name is None or name in self._assumed):
            self._defaults[self.path(name or names[0])] = None if value is UNSAID else value
        return value, name

    def all_defaults(self) -> dict[str, Any]:
        """The values taken for absent keys, here and in nested configs, by their full paths."""
        result = dict(self._defaults)
        for part in self._parts.values():
            result |= part.all_defaults()
        return result


@dataclass
class Case:
    """The stored tensors, and how they differ from this config and from others.

    Args:
        values: the config.
        outcome: the result of the checks.
        again: runs all checks on another blueprint.
        retyped: whether the config has another model_type than the checkpoint's, whose class would be named with it.
        until: deadline of the search, by time.monotonic; None for no limit.
    """

    comparison: Comparison
    values: Mapping[str, Any]
    outcome: Outcome
    again: Callable[[Blueprint], Outcome]
    retyped: bool = False
    until: float | None = None
    _tried: dict[tuple[str, bool], _Tried] = field(default_factory=dict)
    _lacked: dict[str, int] = field(default_factory=dict)
    _improving: dict[str, bool] = field(default_factory=dict)

    @property
    def blueprint(self) -> Blueprint:
        """The blueprint of the config."""
        return self.comparison.blueprint

    @cached_property
    def stored(self) -> StoredRows:
        """The stored tensors by the blueprint's names, as if dense; a packed shape is unknown."""
        c, match = self.comparison, self.comparison.match
        others = {*(leaf.name for leaf in match.heads), *(match.wrapped.added if match.wrapped else ())}
        spelling, entries = match.taken, c.view.entries if c.view else {}
        shapes: dict[str, tuple[int, ...] | None] = {}
        for name, place in self._listed().items():
            described_name, entry = spelling.get(name, name), entries.get(name)
            if described_name in others or described_name.startswith(self.blueprint.unmodeled):
                continue
            is_known = entry and (not c.packed or (place == name and entry.dtype in dtypes.FLOATING))
            shapes[described_name] = entry.shape if entry and is_known else None
        return StoredRows.of(shapes)

    def _listed(self) -> Mapping[str, object]:
        """The names that are stored, as if they were not packed, each of the packed with that which it is stored under.

        Of others it has no such name, but the file or the entry.
        """
        c = self.comparison
        if c.packed:
            return c.packed.dense
        return c.index.weight_map if c.index else c.headers.entries

    @cached_property
    def modules(self) -> frozenset[str]:
        """The last names of all modules that are stored."""
        return frozenset(map(module_of, self.stored.rows))

    @cached_property
    def undescribed(self) -> frozenset[str]:
        """The last names of the modules that the config does not describe."""
        return frozenset(module_of(row.text) for row, _ in self.difference.unexpected)

    @cached_property
    def complete(self) -> bool:
        """Whether this comparison shows all differences of the findings, which may accept or pack tensors otherwise."""
        match, counts = self.comparison.match, self.difference.counts
        shapes = sum(finding.count for finding in self.outcome.findings if finding.code == "HF301")
        if self.comparison.packed:
            return counts[0] == match.missing_count and (counts[1] > 0) == bool(match.unexpected)
        return counts == (match.missing_count, len(match.unexpected), shapes)

    @cached_property
    def difference(self) -> Difference:
        """How what is stored differs from the config."""
        if self.comparison.packed:
            return compare(self.blueprint.leaves, self.stored)
        listed = self.comparison.match.listed  # layers that only look like prediction layers are not found among these
        return compare([leaf for leaf, count in listed if count or leaf.part == "model"], self.stored)

    @cached_property
    def gone(self) -> WholeParts | None:
        """Missing tensors by parts and layers; None if there are none or too many."""
        return self._wholes("missing", self.stored)

    @cached_property
    def beyond(self) -> WholeParts | None:
        """Unexpected tensors by parts and layers; None if there are none or too many."""
        few = self.blueprint.tensor_count <= 10 * MOST and not self.comparison.packed
        return self._wholes("unexpected", described(self.blueprint.leaves)) if few else None

    def _wholes(self, how: Literal["missing", "unexpected"], other: StoredRows) -> WholeParts | None:
        differ = {"missing": self.difference.counts[0], "unexpected": self.difference.counts[1]}[how]
        places = ((text, numbers) for kind, text, numbers in self.difference.places() if kind == how)
        return wholes(places, other) if differ > 0 and max(self.difference.counts) <= MOST else None

    @cached_property
    def keys(self) -> list[str]:
        """The keys that the family reads, whether the config has them or not; full paths."""
        return sorted(self._read.read_keys())

    @cached_property
    def _read(self) -> "_DefaultsNoted":
        config = _DefaultsNoted(self.values)
        build(config)
        return config

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """What was taken for keys that the config lacks, by their full paths; None where that is nothing."""
        return self._read.all_defaults()

    def value(self, key: str) -> Any:
        """The config's value of a full key path; None if it has none."""
        value: Any = self.values
        for step in steps(key):
            value = get(value, step)
        return value

    def value_read(self, key: str) -> Any:
        """The config's value of a full key path, or the default that was read in its place."""
        value = self.value(key)
        return self.defaults.get(key) if value is None else value

    def source(self, key: str) -> str:
        """Where the value of a key was read, for hints: the key, or its default."""
        return key if self.value(key) is not None else f"{key}{BY_DEFAULT}"

    def with_changes(self, changes: Changes) -> tuple[Blueprint, Difference] | None:
        """The blueprint of a changed config, and the difference of the stored tensors; None if it is invalid."""
        if not changes:
            return self.blueprint, self.difference
        result = self._try(changes, self._whatever_class(changes))
        return result if isinstance(result, tuple) else None

    def _whatever_class(self, changes: Changes) -> bool:
        return self.retyped or "model_type" in changes

    def _try(self, changes: Changes, whatever_class: bool) -> _Tried:
        text = json.dumps(changes, sort_keys=True)
        if (text, whatever_class) not in self._tried:
            self._make_room()
            result: _Tried = None
            try:
                config = Config(changed(self.values, changes))
                blueprint = draft(config, whatever_class)
            except ConfigError as error:
                result = error
            except (UnknownArchitecture, BadSetting):  # a list that is not written cannot be changed
                pass
            else:
                difference = compare(blueprint.leaves, self.stored)
                result = blueprint, difference
                if not any(difference.counts[:2]):
                    self._lacked[text] = sum(self.value(key) is None for key in config.read_keys())
            self._tried[text, whatever_class] = result
        return self._tried[text, whatever_class]

    def _make_room(self) -> None:
        """Forgets what was tried first, and ends the search when its time is over."""
        if self.until is not None and monotonic() > self.until:
            raise TimeoutError
        if len(self._tried) >= _KEPT:
            del self._tried[next(iter(self._tried))]

    def refusal(self, changes: Changes) -> ConfigError | None:
        """Why a changed config is no valid one; None if it is."""
        result = self._try(changes, whatever_class=False)
        return result if isinstance(result, ConfigError) else None

    def lacked(self, changes: Changes) -> int:
        """How many of the keys that are read under a changed config, which describes all names, the config lacks."""
        return self._lacked[json.dumps(changes, sort_keys=True)]

    def named(self, changes: Changes) -> bool:
        """Whether a changed config describes all names, whatever the shapes."""
        made = self.with_changes(changes)
        return made is not None and made[0].unmodeled == self.blueprint.unmodeled and not any(made[1].counts[:2])

    def under(self, changes: Changes) -> "Case":
        """The same checkpoint with a changed config, which must be a valid one."""
        made = self.with_changes(changes)
        assert made is not None
        other = replace(self, comparison=self.comparison.replace(blueprint=made[0]))
        other.values, other._tried, other._improving = changed(self.values, changes), {}, {}
        other.retyped = self.retyped or "model_type" in changes
        other.stored, other.difference = self.stored, made[1]
        return other

    def solved(self, changes: Changes) -> frozenset[str]:
        """The codes of findings that a changed config would not have, if it has nothing new instead."""
        made = self.with_changes(changes)
        if made is None or made[0].unmodeled != self.blueprint.unmodeled:
            return frozenset()
        before, after = self.difference.counts, made[1].counts
        gone = frozenset(code for code, old, new in zip(DIFFERING, before, after, strict=True) if old and not new)
        return gone if gone and (not any(after) or made[1].within(self.difference)) else frozenset()

    def improves(self, changes: Changes) -> bool:
        """Whether less differs with a changed config, and nothing new."""
        text = json.dumps(changes, sort_keys=True)
        if text not in self._improving:  # which is asked again where two causes are looked for
            made = self.with_changes(changes)
            self._improving[text] = made is not None and self._is_less(*made)
        return self._improving[text]

    def _is_less(self, blueprint: Blueprint, other: Difference) -> bool:
        if sum(other.counts) >= sum(self.difference.counts) or blueprint.unmodeled != self.blueprint.unmodeled:
            return False
        return other.within(self.difference)

    def agrees(self, changes: Changes) -> bool:
        """Whether a changed config describes all that is stored."""
        return self.solved(changes) == self.open

    @property
    def open(self) -> frozenset[str]:
        """The codes of all findings about names and shapes."""
        return frozenset(code for code, count in zip(DIFFERING, self.difference.counts, strict=True) if count)

    def proven(self, changes: Changes) -> bool:
        """Whether all checks agree that a changed config solves what it seems to solve."""
        made, solved = self.with_changes(changes), self.solved(changes)
        if made is None or not solved:
            return False
        before = {finding.code for finding in self.outcome.findings}
        config = Config(changed(self.values, changes))
        blueprint = build(config, self._whatever_class(changes)) if changes else self.blueprint
        after = {finding.code for finding in self.again(blueprint).findings if finding.blocks}
        return after <= before - solved


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop, but a name at its start as it is."""
    first = text.partition(" ")[0]
    plain = first.isalpha() and first.islower()
    return f"{text[0].upper() if plain else text[0]}{text[1:]}."


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else parts[0]
