"""The commands beside `hfcount MODEL`: a first argument that is one of their names runs that command.

A local folder of the same name is still a MODEL as `./name`.
"""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from hfcount.cli.output import ended

if TYPE_CHECKING:
    import click

COMMANDS: Mapping[str, str] = {
    "fix": "hfcount.cli.fix",
    "hook": "hfcount.cli.hook",
    "sweep": "hfcount.cli.sweep",
}
"""The module of each command, which is imported when the command is run; `command` is the click command in it."""


def find(name: str) -> "click.Command":
    """The command of that name.

    Raises:
        KeyError: there is none.
    """
    found: click.Command = import_module(COMMANDS[name]).command
    return found


def run() -> NoReturn:
    """Runs the command that the first argument names, or else `hfcount MODEL`, and exits with its code."""
    # A shell that asks for completions gives the words so far in the environment.
    name, *_ = sys.argv[1:2] or os.environ.get("COMP_WORDS", "").split()[1:2] or [""]
    if name not in COMMANDS:
        from hfcount.cli.main import run as plain

        plain()
    settings = {"prog_name": f"hfcount {name}", "complete_var": "_HFCOUNT_COMPLETE"}
    sys.exit(ended(lambda: find(name).main(sys.argv[2:], standalone_mode=False, **settings)))
