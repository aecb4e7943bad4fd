"""The rows of a sweep: one for each (model, revision), whatever came of it.

A row is a JSON object on a line of its own, as workers send it and as it is kept until a part is written. It says
nothing of when or where it was made, so that the same checkpoints give the same rows everywhere.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hfcount.fetcher import Request
from hfcount.report.renderers.settings import summary
from hfcount.sweeping.bases import BaseLink
from hfcount.text import printable
from hfcount.version import __version__

if TYPE_CHECKING:
    from hfcount.checkpoints.settings.choose import Settings
    from hfcount.report.model import Beside, PipelinePart, Report, ReportedFinding, ReportedLoader

TEXT, NUMBER, TEXTS = "text", "number", "texts"

FINDING: Mapping[str, str] = {
    "code": TEXT,
    "name": TEXT,
    "severity": TEXT,
    "message": TEXT,
    "count": NUMBER,
    "parameters": NUMBER,
    "bytes": NUMBER,
    "key": TEXT,
    "file": TEXT,
    "fix": TEXT,
}
"""The fields of a finding, as of the report, and what they hold."""

BESIDE: Mapping[str, str] = {"kind": TEXT, "count": NUMBER, "files": TEXTS}
"""The fields of what lies beside a model and was not opened, as of the report."""

PART: Mapping[str, str] = {
    "name": TEXT,
    "library": TEXT,
    "class": TEXT,
    "verdict": TEXT,
    "total": NUMBER,
    "bytes": NUMBER,
}
"""The fields of a part of a pipeline: `verdict` is null for one without weights, `bytes` are those of the weights."""

BASE: Mapping[str, str] = {
    "model": TEXT,
    "relation": TEXT,
    "source": TEXT,
    "weights": TEXT,
    "same": NUMBER,
    "files": NUMBER,
}
"""The fields of a base: `weights`, `same` and `files` are null where no weight files were compared."""

LOADER: Mapping[str, str] = {"loader": TEXT, "version": TEXT, "outcome": TEXT, "says": TEXT}
"""The fields of what one loader makes of a checkpoint, as of the report."""

COLUMNS: Mapping[str, str | Mapping[str, str]] = {
    "model": TEXT,
    "revision": TEXT,
    "version": TEXT,
    "modified": TEXT,
    "source": TEXT,
    "verdict": TEXT,
    "reason": TEXT,
    "message": TEXT,
    "family": TEXT,
    "architecture": TEXT,
    "dtype": TEXT,
    "scheme": TEXT,
    "depth": TEXT,
    "total": NUMBER,
    "active": NUMBER,
    "stored": NUMBER,
    "bytes": NUMBER,
    "errors": NUMBER,
    "notes": NUMBER,
    "findings": FINDING,
    "not_looked_at": BESIDE,
    "parts": PART,
    "bases": BASE,
    "loaders": LOADER,
}
"""The columns, and what they hold; `findings`, `not_looked_at`, `parts`, `bases` and `loaders` are lists of
objects.

`verdict` is the report's, or `skipped` for a checkpoint that was not looked at. `reason` is one word for why it was
skipped or could not be judged, and `message` says more, or what a settings file has waived. `total`, `active` and
`stored` are elements, `bytes` those of the weights, `errors` and `notes` numbers of findings.
"""

LATER = ("parts", "bases", "loaders")
"""Columns that files of earlier versions lack: lists, which are then empty."""

_MOST = 2**63  # what a column of 64-bit integers cannot hold is left out


@dataclass(frozen=True, slots=True)
class Task:
    """One checkpoint to look at.

    Args:
        model: as its row calls it.
        revision: the commit, where it has one: with the model the key of its row.
        modified: when it was last changed, where a listing says so.
        request: how to read it; None where it is not looked at.
        verdict: where it is not looked at: `skipped`, or `unverified` where that cannot be.
        reason, message: why it is not looked at.
        cost: requests of its files that it takes at most.
        settings: what its settings file sets; None without one.
        bases: what its listing or its folder says that it was made of, as far as that is known before it is looked at.
    """

    model: str
    revision: str | None
    request: Request | None
    modified: str | None = None
    verdict: str = "skipped"
    reason: str | None = None
    message: str | None = None
    cost: int = 0
    settings: "Settings | None" = None
    bases: tuple[BaseLink, ...] = ()


def line(task: Task, report: "Report") -> bytes:
    """The row of a report."""
    counts, stored = report.parameters, report.storage
    evidence, memory, error = report.evidence, report.memory, report.error
    severities = [finding.severity for finding in report.findings]
    return encoded(
        {
            **_key(task),
            "source": report.source,
            "verdict": report.verdict,
            "reason": error.kind if error else None,
            "message": error.message if error else summary(report) or None,
            "family": report.family,
            "architecture": report.architecture,
            "dtype": report.dtype,
            "scheme": stored.scheme if stored else None,
            "depth": report.depth,
            "total": counts.total if counts else None,
            "active": counts.active if counts else None,
            "stored": counts.stored if counts else None,
            "bytes": (memory.weights_bytes if memory else None) or (evidence.total_size if evidence else None),
            "errors": severities.count("error"),
            "notes": severities.count("note"),
            "findings": [_picked(finding, FINDING) for finding in report.findings],
            "not_looked_at": [_picked(other, BESIDE) for other in report.not_looked_at],
            "parts": [_part(part) for part in report.parts or ()],
            "bases": [base._asdict() for base in task.bases],
            "loaders": [_picked(loader, LOADER) for loader in report.loaders],
        }
    )


def unread(task: Task, reason: str, message: str, verdict: str = "unverified") -> bytes:
    """The row of a checkpoint without a report."""
    row = dict.fromkeys(COLUMNS) | _key(task) | {"verdict": verdict, "reason": reason, "message": message}
    bases = [base._asdict() for base in task.bases]
    lists = {"findings": [], "not_looked_at": [], "parts": [], "bases": bases, "loaders": []}
    return encoded(row | {"errors": 0, "notes": 0} | lists)


def skipped(task: Task) -> bytes:
    """The row of a checkpoint that is not looked at."""
    return unread(task, task.reason or "", task.message or "", task.verdict)


def encoded(row: Mapping[str, Any]) -> bytes:
    """A row as a line of UTF-8."""
    return json.dumps(_bounded(row), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


CHECKPOINT = ("model", "revision")
"""The columns that say which checkpoint a row is of."""


def checkpoint(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """What no two rows share: a checkpoint at one commit."""
    return row["model"], row["revision"]


def _key(task: Task) -> dict[str, Any]:
    return {"model": task.model, "revision": task.revision, "version": __version__, "modified": task.modified}


def _picked(part: "ReportedFinding | ReportedLoader | Beside", names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(part, name) for name in names}


def _part(part: "PipelinePart") -> dict[str, Any]:
    return {
        "name": part.name,
        "library": part.library,
        "class": part.class_name,
        "verdict": part.verdict,
        "total": part.parameters.total if part.parameters else None,
        "bytes": part.memory.weights_bytes if part.memory else None,
    }


def _bounded(value: Any) -> Any:
    if isinstance(value, int):
        return value if -_MOST <= value < _MOST else None
    if isinstance(value, dict):
        return {name: _bounded(item) for name, item in value.items()}
    return [_bounded(item) for item in value] if isinstance(value, list | tuple) else value


def label(model: str) -> str:
    """A model as its row calls it: a column of text holds no halves of characters."""
    return printable(model, None)
