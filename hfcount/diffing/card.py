"""The card of a comparison: what the pull request of a conversion shows."""

from typing import Any

from hfcount.checkpoints.data.difference import Difference
from hfcount.diffing.model import Diff
from hfcount.diffing.pieces import Side, TensorPair, Tensors, Values
from hfcount.diffing.text import facts
from hfcount.report.renderers.card import Card, beginning, markdown, yaml

_MOST = 20  # rows of tensors that differ


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
        "config": {row.key: [row.a, row.b] for row in diff.config if _is_plain(row.a) and _is_plain(row.b)} or None,
        "tensors": _tensors(diff.tensors) if diff.tensors else None,
        "values": _values(diff.values, totals) if diff.values else None,
        "rounding": _rounding(totals) if totals and diff.values and not diff.values.sampled else None,
        "mismatches": _mismatches(diff),
        "parts": {name: {"summary": part.summary} for name, part in (diff.parts or {}).items()} or None,
        "notes": list(diff.notes) or None,
    }


def _is_plain(value: Any) -> bool:
    return value is not None and isinstance(value, str | int | float)


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


def _values(values: Values, totals: Difference | None) -> Card:
    """Numbers of tensors by how their values compare, and of elements."""
    other = sum(row.other for row in values.components)
    return {
        "sampled": values.sampled or None,
        "compared": values.tensors,
        "identical": values.identical,
        "rounded": values.tensors - values.identical - other,
        "other": other,
        "not_compared": values.uncompared,
        "elements": totals.elements if totals and not values.sampled else None,
        "elements_differing": totals.differing if totals and not values.sampled else None,
        "new_nan_or_infinite": values.introduced,
        "through": values.through,
    }


def _rounding(totals: Difference) -> Card:
    """Errors over all elements that were compared, whether they differ or not; those that are finite on both sides."""
    finite = totals.elements - totals.beyond
    return {
        "largest_error": float(totals.largest),
        "mean_error": totals.absolute / finite if finite else 0.0,
        "rms_error": totals.rms,
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
    return rows[:_MOST]


def _pair(what: str, pair: TensorPair) -> Card:
    a, b = (facts(held) if held else None for held in (pair.a, pair.b))
    return {"tensors": pair.name, "count": pair.count, "what": what, "a": a, "b": b}
