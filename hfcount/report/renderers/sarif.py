"""The reports as SARIF 2.1.0 (OASIS standard): one run, whose results are the findings of all models.

It has what GitHub's code scanning asks for besides the standard: a region with a line, help of each rule, fingerprints.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from hfcount.report.model import Report, ReportedFinding
from hfcount.report.renderers import settings
from hfcount.report.renderers.fingerprints import fingerprint
from hfcount.report.renderers.paths import line, path
from hfcount.report.renderers.text import verdict
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules import RULES
from hfcount.version import REPOSITORY, __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST = 25_000  # results of a run that GitHub takes

Json = dict[str, Any]


def render(reports: Sequence[Report]) -> str:
    """The document, with the rules that are broken, and what could not be seen as notifications of the run."""
    used = list(dict.fromkeys(finding.code for report in reports for finding in report.findings))
    driver = {
        "name": "hfcount",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": REPOSITORY,
        "rules": [_rule(RULES[code]) for code in used],
    }
    unseen = [
        {"level": "warning", "message": {"text": f"{report.label}: {verdict(report)}"}}
        for report in reports
        if report.exit_code == 3
    ]
    invocation: Json = {"executionSuccessful": not unseen, "toolExecutionNotifications": unseen}
    results = [result for report in reports for result in _results(report, used)]
    results.sort(key=lambda result: result["level"] != "error")  # notes are cut off first
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results[:_MOST]}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(rule: type[Finding]) -> Json:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.what} {rule.why}"},
        "helpUri": rule.url,
        "help": {"text": rule.remedy, "markdown": f"{rule.remedy}\n\n[About {rule.code} {rule.name}]({rule.url})"},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"problem.severity": "error" if rule.level == "error" else "recommendation"},
    }


def _results(report: Report, codes: Sequence[str]) -> Iterator[Json]:
    for finding in report.findings:
        place = {"artifactLocation": {"uri": _uri(report, finding)}, "region": {"startLine": line(finding)}}
        names = [{"fullyQualifiedName": row} for row in finding.rows[:100]]
        yield {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": finding.severity,
            "message": {"text": f"{report.label}: {finding.message}"},
            "locations": [{"physicalLocation": place} | ({"logicalLocations": names} if names else {})],
            "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint(report.label, finding)}:1"},
            **_suppressed(finding),
        }


def _suppressed(finding: ReportedFinding) -> Json:
    """That a settings file lets a finding through, and why."""
    if finding.waived is None:
        return {}
    justification = settings.source(finding.waived)
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": justification}]}


def _uri(report: Report, finding: ReportedFinding) -> str:
    """Where the file is: a relative path for what is below the working directory, an address for a repo."""
    file = finding.location.file if finding.location else "config.json"
    if report.source in ("hub", "cache"):
        revision = quote(report.revision or "main", safe="")
        return f"https://huggingface.co/{quote(report.model)}/blob/{revision}/{quote(file)}"
    local = path(report, finding)
    if local is None:
        return quote(f"{report.model}/{file}")
    return PurePath(local).as_uri() if PurePath(local).is_absolute() else quote(local)
