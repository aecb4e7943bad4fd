"""Runs the command that the first argument names; anything else is a MODEL.

A local folder that is called as a command is still a MODEL as `./name`.
"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from hfcount.cli.commands import COMMANDS, find, overview
from hfcount.cli.output import WrongUsage, ended

if TYPE_CHECKING:
    import click

_BEGIN = """\
hfcount checks a checkpoint against its config: every tensor, and no other.

Usage: hfcount [COMMAND] [OPTIONS] MODEL...

Commands:
{commands}

Examples:
  hfcount Qwen/Qwen3-32B   a repo on the Hub
  hfcount ./my-checkpoint  a local folder

Name a MODEL to begin. `hfcount -h` shows the usual options, `hfcount --help`
all, `hfcount help COMMAND` those of a command."""


def run() -> NoReturn:
    """Runs the command that the first argument names, or else `verify`, and exits with its code."""
    sys.exit(ended(lambda: _chosen(sys.argv[1:])))


def _chosen(words: Sequence[str]) -> int | None:
    # A shell that asks for completions gives the words so far in the environment.
    name, *_ = words[:1] or os.environ.get("COMP_WORDS", "").split()[1:2] or [""]
    if not words and "_HFCOUNT_COMPLETE" not in os.environ:
        print(_BEGIN.format(commands=overview()), file=sys.stderr)
        return 2  # as of wrong usage, so that a script which lost its MODEL does not pass
    if name not in COMMANDS:
        return _verify(words)
    if os.path.isfile(os.path.join(name, "config.json")):
        print(f"Note: {name} is a command of hfcount. For the folder of that name, write ./{name}", file=sys.stderr)
    if name == "verify":
        return _verify(words[1:], prog_name="hfcount")
    return _main(find(name), words[1:], prog_name=f"hfcount {name}")


def _verify(words: Sequence[str], **settings: str) -> int | None:
    """Runs `verify`: without click, which a fifth of a run would go to, where the words are plain."""
    from hfcount.cli import plain, verify  # of this command alone

    arguments = plain.arguments(words)
    if arguments is not None:
        try:
            return verify.run(arguments)
        except WrongUsage:
            pass  # nothing is done yet, and click shows it with the usage
    return _main(find("verify"), words, **settings)


def _main(command: "click.Command", words: Sequence[str], **settings: str) -> int | None:
    code: int | None = command.main(words, standalone_mode=False, complete_var="_HFCOUNT_COMPLETE", **settings)
    return code
