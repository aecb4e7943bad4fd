"""Decides which checkpoints with a row are inspected again: by reason, or by version of hfcount."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from hfcount.errors import FetchKind, HfcountError
from hfcount.sweeping.parts import read
from hfcount.sweeping.prefilter import REASONS as SCREENED
from hfcount.text import shown
from hfcount.version import __version__

PASSING = (
    *("NoNetwork", "HubError", "NoSuchRepo", "NoSuchRevision", "GatedRepo"),
    *("TimedOut", "WorkerDied", "OutOfMemory", "Crash"),
)
"""Reasons that may be temporary."""


@dataclass(frozen=True, slots=True)
class RetryRules:
    """Rules for repeated inspection.

    Args:
        reasons: repeat rows with one of these reasons.
        versions: repeat rows by another version of hfcount.
    """

    reasons: frozenset[str] = frozenset()
    versions: bool = False

    def __bool__(self) -> bool:
        return bool(self.reasons) or self.versions

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether the checkpoint of a row is inspected again."""
        return (self.versions and row["version"] != __version__) or row["reason"] in self.reasons


def reasons(retry: bool | str | Collection[str], out: Path) -> frozenset[str]:
    """The reasons to retry: all temporary ones if True, else the named ones, ignoring case.

    Raises:
        ValueError: an unknown reason; the message names similar ones and those in the folder.
        SweepError: a part of the folder cannot be read.
    """
    if isinstance(retry, bool):
        return frozenset(PASSING if retry else ())
    asked = [retry] if isinstance(retry, str) else [*retry]
    known = {reason.lower(): reason for reason in possible()}
    if any(reason.lower() not in known for reason in asked):
        there = {row["reason"] for row in read(out, ("reason",)) if row["reason"]}
        known |= {reason.lower(): reason for reason in there}
        for reason in asked:
            if reason.lower() not in known:
                raise ValueError(_unknown(reason, known, there))
    return frozenset(known[reason.lower()] for reason in asked)


def possible() -> frozenset[str]:
    """All possible reasons: of skipped repos, errors, and dead workers."""
    kinds, left = set[str](), [HfcountError]
    while left:
        left += (kind := left.pop()).__subclasses__()
        kinds.add(kind.kind)
    return frozenset({*PASSING, *SCREENED, *get_args(FetchKind), *kinds} - {HfcountError.kind})


def _unknown(name: str, known: Mapping[str, str], there: Collection[str]) -> str:
    near = get_close_matches(name.lower(), known, n=3)
    meant = f" Did you mean {' or '.join(known[reason] for reason in near)}?" if near else ""
    present = f"The rows have {', '.join(sorted(there))}." if there else "No row has a reason."
    return (
        f"{shown(name)} is not a reason that rows have.{meant} {present} Without a reason it goes last, or is written"
        " --retry=all."
    )
