"""Finds the local file and line of a finding."""

import os
from pathlib import Path

from hfcount.report.model import Report, ReportedFinding


def path(report: Report, finding: ReportedFinding) -> str | None:
    """The file of a local folder, with `/` between its parts; None for what is not local.

    Relative below the working directory, as tools for repositories expect.
    """
    if report.source != "folder":
        return None
    here = os.path.expanduser(report.model)
    file = finding.location.file if finding.location else "config.json"
    full_path = here if here.endswith(".json") else os.path.join(here, file)
    inside = os.path.relpath(full_path) if _drive(full_path) == _drive(os.getcwd()) else full_path
    return Path(full_path if inside.startswith("..") else inside).as_posix()


def line(finding: ReportedFinding) -> int:
    """The line in that file; the first where none is known."""
    return finding.location.line or 1 if finding.location else 1


def _drive(path: str) -> str:
    return os.path.splitdrive(os.path.abspath(path))[0]
