"""Finds the one size to change where sizes of a config do not go together, by what is stored."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hfcount.mapper.whatif import Changes, get, steps
from hfcount.text import printable
from hfcount.verifier.causes.list_lengths import fitted
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Outcome

Tried = Callable[[Changes], Outcome | None]
"""What is found of a config with changes; None if its tensors are not compared."""

_SHARING = ("head", "group")
"""Words in keys of numbers that a size is divided by."""

_MOST = 32  # such keys that are tried, each by reading the checkpoint again


def cure(variant: str, values: Mapping[str, Any], finding: Finding, tried: Tried) -> str | None:
    """What to change, as a sentence; None if that is not known.

    Args:
        variant: of HF103, `list-length` or `not-divisible`.
        values: the config.
        finding: what is wrong with it, at its key.
    """
    key, unseen = finding.key or "", list[str]()
    candidates = (
        fitted(values, key, finding.expected) if variant == "list-length" else _sizes(values, key, tried, unseen)
    )
    fits = [more for more in candidates if (outcome := tried(more)) is not None and not _errors(outcome)]
    if len(fits) == 1:
        ((name, value),) = fits[0].items()
        new = f"{len(value):,} entries" if isinstance(value, list) else f"{value:,}"
        return f"Set {printable(name)} to {new}: all stored tensors fit that."
    if len(unseen) == 1 and not fits:
        return f"Set {printable(unseen[0])} to that of the model that was saved (the stored tensors do not show it)."
    return None


def _errors(outcome: Outcome) -> list[Finding]:
    return [finding for finding in outcome.findings if finding.severity == "error"]


def _sizes(values: Mapping[str, Any], key: str, tried: Tried, unseen: list[str]) -> Iterator[Changes]:
    """The size that a search for causes finds where nothing has to be a multiple of the number that divides it.

    Args:
        unseen: is given the dividing numbers with which all fits if they divide nothing.
    """
    proposed: list[Changes] = []
    for divider in _dividers(values, key):
        outcome = tried({divider: 1})
        if outcome and not _errors(outcome):
            unseen.append(divider)
        for finding in _errors(outcome) if outcome else ():
            for name, size in finding.changes.items():
                change = {name: size}
                if name != divider and type(size) is int and change not in proposed:
                    proposed.append(change)
                    yield change


def _dividers(values: Mapping[str, Any], key: str) -> list[str]:
    """The full paths of numbers, at a key and beside it, that a size may be divided by."""
    *path, name = steps(key)
    around: Any = values
    for step in path:
        around = get(around, step)
    before = key.removesuffix(str(name))
    beside = around if isinstance(around, Mapping) else {}
    numbers = [name, *(other for other, value in beside.items() if type(value) is int and value > 1 and other != name)]
    return [f"{before}{other}" for other in numbers if any(word in str(other) for word in _SHARING)][:_MOST]
