"""Rewrites keys that versions and libraries interpret differently so that all agree."""

from collections.abc import Iterator

from hfcount.fetcher.layout import CONFIG
from hfcount.mapper.whatif import steps
from hfcount.repair.members import with_value
from hfcount.repair.state import BLINDING, Proposal, State
from hfcount.text import shown
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.rules.hf112_readers_disagree import ReadersDisagree
from hfcount.verifier.rules.hf113_rotary_settings_moved import RotarySettingsMoved

_LOADS = f"{NEWEST} loads it as it is."


def agreed(state: State) -> Iterator[Proposal]:
    """Sets the fitting value in every place where one of them looks."""
    if not BLINDING.isdisjoint(state.codes):
        return
    for code in ("HF112", "HF113"):
        yield from _written(state, code)


def _written(state: State, code: str) -> Iterator[Proposal]:
    findings = [finding for finding in state.about(code) if isinstance(finding, ReadersDisagree | RotarySettingsMoved)]
    text, settings = state.config, []
    for key, value in {key: value for finding in findings for key, value in finding.writes.items()}.items():
        try:
            text = with_value(text, [str(step) for step in steps(key)], value)
        except KeyError:
            return
        settings.append(f"{key} to {'the value at the other place' if isinstance(value, dict) else shown(value)}")
    if settings:
        yield Proposal(frozenset({code}), f"Set {'; '.join(settings)}.", {CONFIG: text.encode()}, doubt=_LOADS)
