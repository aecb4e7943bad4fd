"""Renders what a version of transformers writes of a checkpoint, as Markdown."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hfcount.diffing.saves.text import TITLES, answer, shape
from hfcount.report.renderers.markdown import code, escape
from hfcount.report.renderers.text import inert
from hfcount.text import plural

if TYPE_CHECKING:
    from hfcount.diffing.saves.model import SavedGroup, Saves

_ROWS = 50
_MARKS = {0: "✅", 1: "❌", 3: "⚠️"}


def render(result: "Saves") -> str:
    """The text."""
    return inert("\n".join(_lines(result)))


def _lines(result: "Saves") -> Iterator[str]:
    yield f"{_MARKS[result.exit_code]} {escape(answer(result))}"
    for name, title in TITLES.items():
        group: SavedGroup = getattr(result, name)
        if group.tensors and name != "kept":
            yield from _table(title, group)
    for key in result.config:
        yield f"\nconfig.json: {code(key.key)}: {escape(key.stored or 'absent')} → {escape(key.written or 'absent')}"
    yield from (f"\n{escape(note)}" for note in result.notes)
    if result.call and result.dtype:
        yield f"\nMeant is {code(result.call)}, in {escape(result.dtype)} ({escape(result.dtype_from or '')})."


def _table(title: str, group: "SavedGroup") -> Iterator[str]:
    yield f"\n**{escape(title)}** ({plural(group.tensors, 'tensor')})\n"
    yield "| tensors | written as | shape | dtype | why |"
    yield "|---|---|---|---|---|"
    for row in group.rows[:_ROWS]:
        types = dict.fromkeys(dtype for dtype in (row.dtype, row.written_dtype) if dtype)
        cells = code(row.name), code(row.written) if row.written else "", shape(row), " → ".join(types), row.why or ""
        yield f"| {' | '.join((*cells[:2], *map(escape, cells[2:])))} |"
    if len(group.rows) > _ROWS:
        yield f"\nand {plural(len(group.rows) - _ROWS, 'more row')}"
