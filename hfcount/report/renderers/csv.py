"""Renders reports as CSV, one row a model."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from hfcount.report.model import Report

HEAD = (
    "model",
    "revision",
    "verdict",
    "findings",
    "family",
    "architecture",
    "dtype",
    "depth",
    "total",
    "active",
    "stored",
    "weights_bytes",
    "kv_bytes_per_token",
    "error",
)


def render(reports: Sequence[Report]) -> str:
    """A head and the rows; unknown numbers are empty."""
    return sheet(HEAD, map(_row, reports))


def sheet(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """The text of a head and of rows."""
    out = StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(head)
    lines.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().removesuffix("\n")


def _row(report: Report) -> Iterator[object]:
    counts, memory = report.parameters, report.memory
    yield from (report.label, report.revision, report.verdict)
    yield " ".join(finding.code for finding in report.findings)
    yield from (report.family, report.architecture, report.dtype, report.depth)
    yield from (counts.total, counts.active, counts.stored) if counts else (None,) * 3
    yield from (memory.weights_bytes, memory.kv_bytes_per_token) if memory else (None,) * 2
    yield report.error.kind if report.error else None


def _cell(value: object) -> object:
    """Escapes text that a spreadsheet would read as a formula, by an apostrophe."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
