"""Renders a diff as Markdown."""

from collections.abc import Iterator, Sequence

from hfcount.diffing.model import Diff
from hfcount.diffing.text import (
    EFFECTS,
    OTHERS,
    TITLES,
    expected,
    is_apart,
    key_row,
    line,
    lists,
    other_rows,
    side_facts,
    value_line,
)
from hfcount.report.renderers.markdown import code, escape
from hfcount.report.renderers.text import inert
from hfcount.text import plural

_ROWS = 50
_MARKS = {0: "✅", 1: "❌", 3: "⚠️"}


def render(diff: Diff) -> str:
    """The text."""
    return inert("\n".join(_lines(diff)))


def _lines(diff: Diff) -> Iterator[str]:
    yield f"### {code(diff.a.model)} and {code(diff.b.model)}"
    yield ""
    yield f"{_MARKS[diff.exit_code]} **{escape(diff.summary)}.**"
    if diff.expectation:
        yield ""
        yield escape(expected(diff.expectation))
    yield ""
    yield from _table(
        ("", "A", "B"), [(name, _cell(name, in_a), _cell(name, other)) for name, in_a, other in side_facts(diff)]
    )
    yield from _details(diff)
    yield from (f"\n{escape(note)}" for note in diff.notes)
    for name, part in (diff.parts or {}).items():
        yield f"\n#### {escape(name)}\n"
        yield f"{escape(part.summary)}."
        yield from _details(part) if is_apart(part) else ()


def _details(diff: Diff) -> Iterator[str]:
    """The lists of differences."""
    for effect, title in EFFECTS.items():
        rows = [key_row(row) for row in diff.config if row.effect == effect]
        if rows:
            yield f"\n**{title}**\n"
            yield from _table(("key", "A", "B", "tensors"), [(code(row[0]), *map(escape, row[1:])) for row in rows])
    for title, pairs in lists(diff):
        yield from _listed(f"{title} ({plural(sum(pair.count for pair in pairs), 'tensor')})", [line(p) for p in pairs])
    if diff.files:
        for name, title in TITLES.items():
            yield from _listed(title, getattr(diff.files, name))
    if diff.values:
        yield from _listed("Values, by component", [value_line(row) for row in diff.values.components])
        yield from _listed(OTHERS, other_rows(diff.values))


def _listed(title: str, rows: Sequence[str]) -> Iterator[str]:
    if rows:
        yield f"\n**{escape(title)}**\n"
        yield from (f"- {code(row)}" for row in rows[:_ROWS])
        if len(rows) > _ROWS:
            yield f"- and {len(rows) - _ROWS:,} more"


def _cell(name: str, text: str) -> str:
    return code(text) if text and name in ("model", "commit", "class") else escape(text)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
