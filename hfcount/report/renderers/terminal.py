"""Opens the terminal's console, and decides on colours."""

import os
from collections.abc import Iterable, Mapping

from rich.console import Console, RenderableType

from hfcount.report.renderers.text import inert


def terminal() -> Console:
    """Standard output, with colours if it is a terminal or the environment asks for them."""
    wanted = coloured(os.environ)
    if wanted is None:
        return Console(highlight=False)
    if not wanted:
        return Console(highlight=False, color_system=None)
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return Console(highlight=False, force_terminal=True, no_color=False, color_system="standard" if dumb else "auto")


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


def printed(console: Console, parts: Iterable[RenderableType]) -> str:
    """The text of what a console shows, without blanks at the ends of lines."""
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return inert("\n".join(line.rstrip() for line in captured.get().split("\n")).strip("\n"))
