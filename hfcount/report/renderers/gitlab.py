"""Renders reports as GitLab's code quality report: a JSON array with an object for each finding.

The fields are those that GitLab reads (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format"):
description, check_name, fingerprint, severity, location.path and location.lines.begin.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hfcount.report.model import Report
from hfcount.report.renderers.fingerprints import fingerprint
from hfcount.report.renderers.paths import line, path
from hfcount.report.renderers.text import outcome, verdict
from hfcount.text import plural, printable

_SEVERITIES = {"error": "critical", "note": "info"}
_UNKNOWN = "major"  # nothing is known to be wrong, and nothing is proven


def render(reports: Sequence[Report]) -> str:
    """The array. GitLab shows one of several objects with the same fingerprint, so that no two have the same."""
    entries = [entry for report in reports for entry in _entries(report)]
    times = Counter[str]()
    for entry in entries:
        mark = entry["fingerprint"]
        times[mark] += 1
        if times[mark] > 1:
            entry["fingerprint"] = _digest(f"{mark} {times[mark]}")
    return json.dumps(entries, indent=1)


def _entries(report: Report) -> Iterator[dict[str, Any]]:
    """The findings of a report, that it is unverified, and what was asked about serving it and fails."""
    for finding in report.findings:
        file = path(report, finding)
        named = finding.location.file if finding.location else "config.json"
        yield _entry(
            f"{report.label}: {finding.message} See {finding.rule.url}",
            f"{finding.code} {finding.name}",
            fingerprint(file or report.label, finding),
            _SEVERITIES[finding.severity],
            file or f"{report.model}/{named}",
            line(finding),
        )
    config = f"{report.model}/config.json"
    if outcome(report) == "unverified":
        name = report.error.kind if report.error else report.verdict
        text, mark = f"{report.label}: {verdict(report)}", _digest(f"{report.label} {name}")
        yield _entry(text, name, mark, _UNKNOWN, config, 1)
    for answer in report.serving.answers if report.serving else ():
        if answer.exit_code and not answer.finding:
            name = f"{answer.question}, {plural(answer.ranks, 'rank')}"
            severity = _SEVERITIES["error"] if answer.exit_code == 1 else _UNKNOWN
            text, mark = f"{report.label}: {answer.reason or answer.answer}", _digest(f"{report.label} {name}")
            yield _entry(text, name, mark, severity, config, 1)


def _entry(text: str, name: str, mark: str, severity: str, file: str, begin: int) -> dict[str, Any]:
    location = {"path": file.removeprefix("./"), "lines": {"begin": begin}}
    return {
        "description": printable(text, None),
        "check_name": name,
        "fingerprint": mark,
        "severity": severity,
        "location": location,
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
