"""The card of a comparison: what the pull request of a conversion shows."""

import json
from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

from hfcount.checkpoints.data.difference import Difference
from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import ConfigKey, Side, TensorPair, Tensors, Values
from hfcount.diffing.text import facts
from hfcount.report.renderers.card import MOST, Card, beginning, markdown, yaml


def text(diff: Diff, totals: Difference | None, command: str, as_markdown: bool) -> str:
    """The card as YAML or Markdown.

    Args:
        totals: how all values that were compared differ, together; None if none were.
    """
    made = card(diff, totals, command)
    return markdown(f"{diff.a.model} and {diff.b.model}", made) if as_markdown else yaml(made)


def card(diff: Diff, totals: Difference | None, command: str) -> Card:
    """The fields of the card."""
    wanted = diff.expectation
    values = _compared(diff)
    exact = None if any(each.sampled for each in values) else totals
    return {
        **beginning(command),
        "a": _side(diff.a),
        "b": _side(diff.b),
        "result": {
            "summary": diff.summary,
            "relations": [relation.kind for relation in diff.relations],
            "same_structure": diff.same_structure,
            "depth": diff.depth,
            "expected": wanted.expected if wanted else None,
            "holds": wanted.met if wanted else None,
            "reason": wanted.reason if wanted else None,
            "exit_code": diff.exit_code,
        },
        "config": _config(diff.config) or None,
        "tensors": _tensors(diff.tensors) if diff.tensors else None,
        "values": _values(values, exact) if values else None,
        "rounding": _rounding(exact) if exact and values else None,
        "mismatches": _mismatches(diff),
        "parts": {name: {"summary": part.summary} for name, part in (diff.parts or {}).items()} or None,
        "notes": list(diff.notes) or None,
    }


def _compared(diff: Diff) -> list[Values]:
    """The values that were compared: of a model, or of each part of a pipeline."""
    return [each.values for each in (diff, *(diff.parts or {}).values()) if each.values]


def _config(keys: Sequence[ConfigKey]) -> Card:
    return {row.key: [_value(row, "a"), _value(row, "b")] for row in keys}


def _value(row: ConfigKey, side: str) -> str | int | float:
    """The value of a side; null, a list or an object as JSON."""
    value: Any = getattr(row, side)
    if value is None and row.absent == side:
        return "absent"
    return value if isinstance(value, str | int | float) else json.dumps(value, separators=(",", ":"), default=str)


def _side(side: Side) -> Card:
    return {
        "model": side.model,
        "revision": side.revision,
        "class": side.architecture or side.family,
        "container": side.container,
        "verdict": side.verdict,
        "tensors": side.tensors,
        "parameters": side.parameters,
        "bytes": side.bytes,
        "dtypes": dict(side.dtypes) if side.dtypes else None,
        "packing": side.packing,
        "error": side.error.message if side.error else None,
    }


def _tensors(tensors: Tensors) -> Card:
    """Numbers of tensors."""
    return {
        "alike": tensors.alike,
        "renamed": _count(tensors.renamed),
        "only_in_a": _count(tensors.only_a),
        "only_in_b": _count(tensors.only_b),
        "other_shapes": _count(tensors.shapes),
        "other_dtypes": _count(tensors.dtypes),
    }


def _count(rows: tuple[TensorPair, ...]) -> int:
    return sum(row.count for row in rows)


def _values(values: Sequence[Values], totals: Difference | None) -> Card:
    """Numbers of tensors by how their values compare, and of elements."""
    other = sum(row.other for each in values for row in each.components)
    compared, identical = sum(each.tensors for each in values), sum(each.identical for each in values)
    through = {each.through for each in values}
    return {
        "sampled": any(each.sampled for each in values) or None,
        "compared": compared,
        "identical": identical,
        "rounded": compared - identical - other,
        "other": other,
        "not_compared": sum(each.uncompared for each in values),
        "elements": totals.elements if totals else None,
        "elements_differing": totals.differing if totals else None,
        "new_nan_or_infinite": sum(each.introduced for each in values),
        "through": through.pop() if len(through) == 1 else None,
    }


def _rounding(totals: Difference) -> Card:
    """Errors over all elements that were compared but those that differ and are NaN or infinite on either side."""
    elements = totals.elements - totals.beyond
    rms = sqrt(totals.squares / elements) if elements and isfinite(totals.squares) else None
    return {
        "largest_error": float(totals.largest),
        "mean_error": totals.absolute / elements if elements else 0.0,
        "rms_error": rms if elements else 0.0,
    }


def _mismatches(diff: Diff) -> list[Card]:
    """What is no conversion's work: tensors of one side, other shapes, values that rounding does not explain."""
    rows: list[Card] = []
    if diff.tensors:
        sections = (
            ("only in A", diff.tensors.only_a),
            ("only in B", diff.tensors.only_b),
            ("other shape", diff.tensors.shapes),
        )
        rows += [_pair(what, pair) for what, pairs in sections for pair in pairs]
    for row in diff.values.rows if diff.values else ():
        if row.other:
            rows.append({"tensors": row.name, "count": row.other, "what": "other values", "largest_error": row.largest})
    for name, part in (diff.parts or {}).items():
        rows += [{"part": name, **row} for row in _mismatches(part)]
    return rows[:MOST]


def _pair(what: str, pair: TensorPair) -> Card:
    a, b = (facts(held) if held else None for held in (pair.a, pair.b))
    return {"tensors": pair.name, "count": pair.count, "what": what, "a": a, "b": b}
