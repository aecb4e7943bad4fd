"""The commands, by name."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

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
