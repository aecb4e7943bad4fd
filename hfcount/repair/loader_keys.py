"""Rewrites keys that versions and libraries interpret differently so that all agree."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hfcount.fetcher.layout import CONFIG
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.loader_differences import RotaryDifference, rotary
from hfcount.mapper.rotary_tables import rotary_forms, rotary_tables
from hfcount.mapper.whatif import steps
from hfcount.repair.members import with_value
from hfcount.repair.state import BLINDING, Proposal, State
from hfcount.text import shown
from hfcount.verifier.loaders.facts import LIBRARY
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.loaders.loader import Loader
from hfcount.verifier.loaders.mlx_lm import facts as mlx_lm
from hfcount.verifier.loaders.mlx_lm.rope import flat_keys
from hfcount.verifier.rules.hf112_readers_disagree import ReadersDisagree
from hfcount.verifier.rules.hf113_rotary_settings_moved import RotarySettingsMoved

_LOADS = f"{NEWEST} loads it as it is."
_AGAINST = ("differs", "refuses")
_RANKS = {"whole": 0, "foreign": 1, "unknown": 1, "differs": 2, "refuses": 3}
"""Outcomes from the best to the worst."""


def agreed(state: State) -> Iterator[Proposal]:
    """Sets the fitting value in every place where one of them looks."""
    if not BLINDING.isdisjoint(state.codes):
        return
    for code in ("HF112", "HF113"):
        yield from _written(state, code)


def fitted_to_loader(state: State) -> Iterator[Proposal]:
    """Writes the keys that a loader looks for which is asked for, where it is then whole and all others read the same.

    What the recorded facts of each loader say of both configs is held side by side.
    """
    loader = state.loader
    if loader is None or not BLINDING.isdisjoint(state.codes):
        return
    moved = loader.library == LIBRARY and "HF113" in state.codes  # it takes all tensors, and computes something else
    if state.readings[loader].outcome not in _AGAINST and not moved:
        return
    for proposal in (*_flattened(state, loader), *agreed(state)):
        after = state.with_changes(proposal.changes)
        if after.readings[loader].outcome == "whole" and _others_agree(state, after, loader):
            yield replace(proposal, doubt="", chosen=True)
            return


def _flattened(state: State, loader: Loader) -> Iterator[Proposal]:
    """Flat rotary keys beside rope_parameters, which few classes of mlx-lm read."""
    kind = state.values.get("model_type")
    if loader.library != mlx_lm.LIBRARY or not isinstance(kind, str):
        return
    names = state.values.get("architectures")
    class_name = str(names[0]) if isinstance(names, list) and names else ""
    if row := mlx_lm.facts(loader.version, kind, class_name):
        writes = flat_keys(row, state.values, kind)
        yield from _with_keys(state, state.codes & {"HF113", "HF114"}, writes)


def _others_agree(before: State, after: State, loader: Loader) -> bool:
    """Whether every other loader reads a changed config as before, or better, and none takes other rotary settings."""
    for other, reading in before.readings.items():
        later = after.readings[other]
        if other == loader or _RANKS[later.outcome] < _RANKS[reading.outcome]:
            continue
        if (later.outcome, later.says) != (reading.outcome, reading.says):
            return False
    moved = {(difference.key, difference.taken) for difference in _moved(before)}
    if not moved.issuperset((difference.key, difference.taken) for difference in _moved(after)):
        return False
    versions = [known.version for known in before.readings if known.library == LIBRARY]
    return all(_tables(before, version) == _tables(after, version) for version in versions if version[0] != "4")


def _moved(state: State) -> list[RotaryDifference]:
    """The settings of rotary positions that version 4 of transformers takes otherwise than version 5."""
    return [*rotary(state.values, state.values.get("model_type"))]


def _tables(state: State, version: str) -> list[tuple[bool, ...]]:
    """What a version of transformers is recorded to make of the rotary settings of a config and its language model."""
    made = []
    for part in (state.values, state.values.get("text_config")):
        kind = part.get("model_type") if isinstance(part, Mapping) else None
        if isinstance(part, Mapping) and isinstance(kind, str):
            tables = rotary_tables(kind, version)
            for form, word in rotary_forms(part, declared(kind).keys, older=False):
                groups = (tables.unread, tables.unscaled, tables.refused)
                made.append(tuple(word in group.get(form, "").split() for group in groups))
    return made


def _written(state: State, code: str) -> Iterator[Proposal]:
    findings = [finding for finding in state.about(code) if isinstance(finding, ReadersDisagree | RotarySettingsMoved)]
    writes = {key: value for finding in findings for key, value in finding.writes.items()}
    yield from _with_keys(state, frozenset({code}), writes)


def _with_keys(state: State, codes: frozenset[str], writes: Mapping[str, Any]) -> Iterator[Proposal]:
    """Writes keys, by their full paths."""
    text, settings = state.config, []
    for key, value in writes.items():
        try:
            text = with_value(text, [str(step) for step in steps(key)], value)
        except KeyError:
            return
        settings.append(f"{key} to {'the value at the other place' if isinstance(value, dict) else shown(value)}")
    if settings:
        yield Proposal(codes, f"Set {'; '.join(settings)}.", {CONFIG: text.encode()}, doubt=_LOADS)
