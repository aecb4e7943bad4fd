"""Renders reports as long CSV, one row a component of each model."""

from collections.abc import Iterator, Sequence

from hfcount.formats.dtypes import BITS
from hfcount.report.model import Report
from hfcount.report.renderers.csv import sheet

HEAD = ("model", "revision", "verdict", "family", "component", "parameters", "active", "share", "dtype", "bytes")


def render(reports: Sequence[Report]) -> str:
    """A head and the rows; unknown numbers are empty, and no row is a sum of others."""
    return sheet(HEAD, (row for report in reports for row in _rows(report)))


def _rows(report: Report) -> Iterator[tuple[object, ...]]:
    total = sum(component.total for component in report.components)
    dtype = _stored(report)
    for component in report.components:
        share = f"{component.total / total:.6f}" if total else None
        size = component.total * BITS[dtype] // 8 if dtype else None
        counts = component.name, component.total, component.active, share
        yield report.label, report.revision, report.verdict, report.family, *counts, dtype, size


def _stored(report: Report) -> str | None:
    """The safetensors dtype of all parameters; None if mixed, or if copies are stored."""
    weights, counts = (report.memory.weights if report.memory else None) or {}, report.parameters
    alike = next(iter(weights)) if len(weights) == 1 else None
    exact = alike and counts and counts.total and weights[alike] * 8 == counts.total * BITS.get(alike, 0)
    return alike if exact else None
