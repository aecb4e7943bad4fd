"""Finds out how wide a terminal is and whether it shows colours, and prints for it."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hfcount.report.renderers.layout import BLOCKS, Block
from hfcount.report.renderers.text import inert

_WIDTH = 80  # of what is no terminal


class Terminal(NamedTuple):
    """What is printed to.

    Attributes:
        width: in columns.
        colours: whether it shows them.
        blocks: whether its encoding has block characters, which bars are drawn with.
    """

    width: int
    colours: bool
    blocks: bool


def terminal() -> Terminal:
    """Standard output, with colours if it is a terminal or the environment asks for them."""
    colours = coloured(os.environ)
    return _terminal(_shows_colours() if colours is None else colours)


def without_colours() -> Terminal:
    """The same as plain text."""
    return _terminal(False)


def _terminal(colours: bool) -> Terminal:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return Terminal(_width(), colours, encoding.lower().startswith("utf"))


def _width() -> int:
    """The columns by the environment, or else of the first standard stream that is a terminal."""
    if (asked := os.environ.get("COLUMNS", "")).isdecimal() and int(asked):
        return int(asked)
    for stream in range(3):
        try:
            if size := os.get_terminal_size(stream).columns:
                return size
        except OSError:  # it is no terminal
            continue
    return _WIDTH


def _shows_colours() -> bool:
    try:
        return sys.stdout.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def coloured(environment: Mapping[str, str]) -> bool | None:
    """Whether the environment asks for colours or refuses them; None if it leaves that to the terminal.

    NO_COLOR (no-color.org) comes before FORCE_COLOR (force-color.org), and this before CLICOLOR_FORCE and CLICOLOR
    (bixense.com/clicolors).
    """
    if environment.get("NO_COLOR"):
        return False
    if force := environment.get("FORCE_COLOR"):
        return force.lower() not in ("0", "false")
    if environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return False if environment.get("CLICOLOR") == "0" else None


def printed(to: Terminal, parts: Iterable[Block]) -> str:
    """The text of blocks on a terminal, without blanks at the ends of lines."""
    lines = (line for part in parts for line in part.lines(to.width))
    text = "\n".join("".join(span.coloured() if to.colours else span.text for span in line).rstrip() for line in lines)
    return inert((text if to.blocks else text.translate(dict.fromkeys(map(ord, BLOCKS), " "))).strip("\n"))
