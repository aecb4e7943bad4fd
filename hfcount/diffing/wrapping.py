"""Wraps lines of text at the terminal's width."""

from collections.abc import Iterable
from textwrap import wrap

from hfcount.report.renderers.terminal import terminal
from hfcount.report.renderers.text import inert

_HANGING = 2  # columns by which the rest of a long row is indented further
_LEAST = 20  # columns that a text has at least, however far it is indented


def wrapped(lines: Iterable[str]) -> str:
    """Lines that keep their indent; the rest of a long row that is indented stands below it, indented further."""
    width = terminal().width
    return inert("\n".join(part for line in lines for part in _parts(line, width)))


def _parts(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    rest = " " * (indent + (_HANGING if indent else 0))
    wide = max(width, len(rest) + _LEAST)
    return wrap(text, wide, initial_indent=" " * indent, subsequent_indent=rest, break_on_hyphens=False)
