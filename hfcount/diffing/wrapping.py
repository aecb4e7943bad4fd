"""Wraps lines of text at the terminal's width."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from hfcount.report.renderers.terminal import printed, terminal

_HANGING = 2  # columns by which the rest of a long row is indented further
_LEAST = 20  # columns that a text has at least, however far it is indented


def wrapped(lines: Iterable[str]) -> str:
    """Lines that keep their indent; the rest of a long row that is indented stands below it, indented further."""
    console = terminal()
    return printed(console, (part for line in lines for part in _parts(line, console)))


def _parts(line: str, console: Console) -> Iterator[Padding]:
    text = Text(line.lstrip(" "))
    indent = len(line) - len(text)
    hanging = _HANGING if indent and text.cell_len > console.width - indent else 0
    for number, part in enumerate(text.wrap(console, max(console.width - indent - hanging, _LEAST))):
        yield Padding(part, (0, 0, 0, indent + (hanging if number else 0)))
