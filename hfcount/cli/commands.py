"""The commands: a first argument that is one of their names runs that command, and anything else is a MODEL.

A local folder that is called as a command is still a MODEL as `./name`.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from hfcount.cli.output import WrongUsage, ended

if TYPE_CHECKING:
    import click


class Command(NamedTuple):
    """The help texts of a command, and its place as `module:name`, imported on demand."""

    usage: str
    purpose: str
    place: str


COMMANDS: Mapping[str, Command] = {
    "verify": Command("[verify] MODEL...", "verify checkpoints (the default command)", "main:main"),
    "size": Command("size MODEL...", "count parameters by component", "surfaces:size"),
    "serve": Command("serve MODEL...", "compute memory: weights, KV cache, GPUs", "surfaces:serve"),
    "gate": Command("gate MODEL", "tell a launcher go or no (exit code)", "surfaces:gate"),
    "fix": Command("fix PATH", "repair a local folder where that is safe", "fix:command"),
    "diff": Command("diff A B", "compare two: how does B derive from A?", "diff:command"),
    "saves": Command("saves MODEL", "say what transformers loses on saving it", "saves:command"),
    "lock": Command("lock MODEL", "write what a checkpoint is, to sign it", "lock:command"),
    "sweep": Command("sweep OUT [MODEL]...", "verify many into a table; resumable", "sweep:command"),
    "hook": Command("hook [FILE]...", "verify changed files, for pre-commit", "hook:command"),
    "rules": Command("rules [CODE|WORD]", "list the findings, or explain one", "info:rules"),
    "architectures": Command("architectures [TYPE|WORD]", "list known model types, or describe one", "info:types"),
    "loaders": Command("loaders", "list the libraries that --for can name", "info:loaders"),
    "schema": Command("schema [diff]", "print the JSON Schema of --format json", "info:schema"),
    "skill": Command("skill", "print the skill for agents (SKILL.md)", "skill:command"),
    "cache": Command("cache [clear]", "show or empty the cache of hfcount", "info:cache"),
    "help": Command("help [COMMAND]", "show this, or the options of a command", "help:command"),
    "version": Command("version", "show the version", "info:version"),
}


def find(name: str) -> "click.Command":
    """The command with this name.

    Raises:
        KeyError: there is none.
    """
    module, _, attribute = COMMANDS[name].place.partition(":")
    command: click.Command = getattr(import_module(f"hfcount.cli.{module}"), attribute)
    return command


def overview() -> str:
    """Every command in a line."""
    width = max(len(command.usage) for command in COMMANDS.values())
    return "\n".join(f"  hfcount {command.usage:{width}}  {command.purpose}" for command in COMMANDS.values())


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
    return _main(find(name), words[1:], prog_name="hfcount" if name == "verify" else f"hfcount {name}")


def _verify(words: Sequence[str]) -> int | None:
    """Runs `verify`: without click, which a tenth of a run would go to, where the words are plain."""
    from hfcount.cli import plain, verify  # of this command alone

    arguments = plain.arguments(words)
    if arguments is not None:
        try:
            return verify.run(arguments)
        except WrongUsage:
            pass  # nothing is done yet, and click shows it with the usage
    return _main(find("verify"), words)


def _main(command: "click.Command", words: Sequence[str], **settings: str) -> int | None:
    code: int | None = command.main(words, standalone_mode=False, complete_var="_HFCOUNT_COMPLETE", **settings)
    return code
