"""Cards: short, stable records of a verification or a conversion, as YAML or Markdown.

A card is a mapping of numbers, texts, lists and mappings; what is None is left out. The YAML is of the plain form that
versions 1.1 and 1.2 read alike. It is written here since PyYAML (6.0.4) quotes for version 1.1 alone: it leaves a text
such as `1234567e89`, which may be a commit, without quotes, and version 1.2 takes that for a number.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from hfcount.report.model import Report
from hfcount.report.renderers.markdown import code, escape
from hfcount.report.renderers.text import inert
from hfcount.text import printable
from hfcount.version import __version__

LAYOUT = 1
"""The version of the layout: fields may be added, none is removed or changes its meaning."""

_PLAIN = re.compile(r"(\.{0,2}/)?[A-Za-z_][\w./@+-]*", re.ASCII)
_WORDS = frozenset("true false yes no on off y n null".split())
MOST = 20
"""Findings of a card, or rows of tensors that differ."""

Card = Mapping[str, Any]


def beginning(command: str) -> dict[str, Any]:
    """The fields that every card begins with."""
    return {"card": LAYOUT, "hfcount": __version__, "command": command}


def of_report(report: Report, command: str) -> Card:
    """The card of a checkpoint: what was verified, how far, and what was found."""
    evidence, counted = report.evidence, report.parameters
    errors = sum(finding.severity == "error" for finding in report.findings)
    return {
        **beginning(command),
        "model": report.model,
        "revision": report.revision,
        "class": report.architecture or report.family,
        "container": report.container,
        "verdict": report.verdict,
        "depth": report.depth,
        "error": report.error.message if report.error else None,
        "tensors": evidence.tensors if evidence else None,
        "parameters": counted.total if counted else None,
        "bytes": evidence.total_size if evidence else None,
        "files": evidence.shards if evidence else None,
        "dtypes": dict(evidence.dtypes) if evidence and evidence.dtypes else None,
        "packing": report.storage.scheme if report.storage else None,
        "mismatches": errors,
        "notes": len(report.findings) - errors,
        "findings": [
            {"code": finding.code, "severity": finding.severity, "text": finding.message}
            for finding in report.findings[:MOST]
        ],
        "values": _values(report),
        "loaders": [f"{one.loader} {one.version}" for one in report.loaders if one.outcome == "whole"] or None,
    }


def _values(report: Report) -> Card | None:
    """Sums over the values of all tensors; None if none were read."""
    rows = report.statistics
    if rows is None:
        return None
    counts = {name: sum(getattr(row, name) for row in rows) for name in ("elements", "zeros", "nan", "infinite")}
    return {"tensors": len(rows), **counts}


def yaml(card: Card) -> str:
    """A card as YAML."""
    return "\n".join(_mapping(card, ""))


def markdown(title: str, card: Card) -> str:
    """A card as Markdown: its fields in a table, and each list of its own."""
    rows = [*_rows(card, "")]
    lines = [f"### {escape(title)}", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in rows]
    for name, entries in card.items():
        if isinstance(entries, list) and any(isinstance(entry, Mapping) for entry in entries):
            lines += ["", f"**{name}**", ""]
            lines += [f"- {'; '.join(f'{key}: {_shown(part)}' for key, part in _given(entry))}" for entry in entries]
    return inert("\n".join(lines))


def _given(card: Card) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in card.items() if value is not None)


def _mapping(card: Card, indent: str) -> Iterator[str]:
    for name, value in _given(card):
        key = f"{indent}{_scalar(name)}:"
        if isinstance(value, Mapping) and value:
            yield key
            yield from _mapping(value, indent + "  ")
        elif isinstance(value, list) and value:
            yield key
            for entry in value:
                yield from _entry(entry, indent + "  ")
        else:
            yield f"{key} {_scalar(value)}"


def _entry(entry: Any, indent: str) -> Iterator[str]:
    if not isinstance(entry, Mapping):
        yield f"{indent}- {_scalar(entry)}"
        return
    first, *rest = _mapping(entry, indent + "  ")
    yield f"{indent}- {first[len(indent) + 2 :]}"
    yield from rest


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else json.dumps(printable(value, None), ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    return "{}" if isinstance(value, Mapping) else "[]" if isinstance(value, list) else str(value)


def _float(value: float) -> str:
    """A float with a point, without which version 1.1 takes one with an exponent for text."""
    if not isfinite(value):
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    text = f"{value:.6g}"
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"


def _rows(card: Card, before: str) -> Iterator[tuple[str, str]]:
    for name, value in _given(card):
        if isinstance(value, Mapping):
            yield from _rows(value, f"{before}{name} ")
        elif not (isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value)):
            yield escape(f"{before}{name}"), _shown(value).replace("|", "\\|")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, str):
        return code(printable(value, None))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else _scalar(value)


def documents(cards: Sequence[Card], as_markdown: bool, titles: Sequence[str]) -> str:
    """Several cards: documents of one YAML file, or sections of Markdown."""
    if as_markdown:
        return "\n\n".join(markdown(title, card) for title, card in zip(titles, cards, strict=True))
    return "\n---\n".join(map(yaml, cards))
