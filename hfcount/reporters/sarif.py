"""The reports as SARIF 2.1.0 (OASIS standard): one run, whose results are the findings of all models."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from hfcount.report.model import Report, ReportedFinding
from hfcount.reporters.text import verdict
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules import RULES
from hfcount.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

Json = dict[str, Any]


def render(reports: Sequence[Report]) -> str:
    """The document, with the rules that are broken, and what could not be seen as notifications of the run."""
    used = list(dict.fromkeys(finding.code for report in reports for finding in report.findings))
    driver = {"name": "hfcount", "version": __version__, "rules": [_rule(RULES[code]) for code in used]}
    unseen = [
        {"level": "warning", "message": {"text": f"{report.label}: {verdict(report)}"}}
        for report in reports
        if report.exit_code == 3
    ]
    invocation: Json = {"executionSuccessful": not unseen, "toolExecutionNotifications": unseen}
    results = [one for report in reports for one in _results(report, used)]
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(rule: type[Finding]) -> Json:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": f"{rule.what} {rule.why}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.level},
    }


def _results(report: Report, codes: Sequence[str]) -> Iterator[Json]:
    for finding in report.findings:
        yield {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": finding.severity,
            "message": {"text": f"{report.label}: {finding.message}"},
            "locations": [
                {
                    "physicalLocation": {"artifactLocation": {"uri": _uri(report, finding)}},
                    "logicalLocations": [{"fullyQualifiedName": row} for row in finding.rows[:100]],
                }
            ],
        }


def _uri(report: Report, finding: ReportedFinding) -> str:
    """Where the file is: a relative path for a folder, an address for a repo."""
    model = report.model.removeprefix("./")
    file = "" if model.endswith(".json") and report.source == "folder" else finding.file or "config.json"
    if report.source in ("hub", "cache"):
        return f"https://huggingface.co/{quote(model)}/blob/{quote(report.revision or 'main', safe='')}/{quote(file)}"
    return quote(f"{model}/{file}".rstrip("/"))
