"""Wraps lines of text at the terminal's width."""

from collections.abc import Iterable

from hfcount.report.renderers.layout import Block, Indented, Text
from hfcount.report.renderers.terminal import printed, without_colours

_HANGING = 2  # columns by which the rest of a long row is indented further


def wrapped(lines: Iterable[str]) -> str:
    """Lines that keep their indent; the rest of a long row that is indented stands below it, indented further."""
    return printed(without_colours(), map(_block, lines))


def _block(line: str) -> Block:
    text = line.lstrip(" ")
    indent = len(line) - len(text)
    return Indented(Text(text, hanging=_HANGING if indent else 0), indent)
