"""Suggests commands for words that are neither a command nor a model."""

import os
import re
from collections.abc import Sequence
from shlex import quote

import click

from hfcount.cli.commands import COMMANDS
from hfcount.cli.output import WrongUsage
from hfcount.text import printable

_MEANT = {
    "verify": "analyse analyze audit check examine info inspect lint model run scan show test validate view",
    "size": "components compute count parameters params sizes",
    "serve": "estimate fit fits memory vram",
    "fix": "correct mend patch repair",
    "sweep": "batch bulk crawl",
    "diff": "compare difference versus",
    "rules": "codes errors explain findings rule",
    "architectures": "archs families family models types",
    "cache clear": "clean clear prune purge",
    "help": "commands doc docs man usage",
}
"""Names of these commands in other tools."""

_ELSEWHERE = {
    "list": "There is no command list: `hfcount --list FILE` reads MODELs from a file, `hfcount architectures` lists"
    " model types.",
    "ls": "There is no command ls: `hfcount -rq DIR` prints a line for every checkpoint in a folder.",
    "merge": "There is no command merge: verify the merged model, `hfcount ./merged`.",
    **{
        name: f"There is no command {name}: that is `hf {command}`, of huggingface_hub."
        for name, command in {"download": "download", "login": "auth login", "upload": "upload"}.items()
    },
}
"""Words for commands that hfcount does not have."""

_NEAR = 0.8


def hint(word: str, rest: Sequence[str] = ()) -> str:
    """The suggestion for a word close to a command or its name in another tool; empty if none.

    Args:
        rest: the words that follow.
    """
    if not re.fullmatch("[a-z-]{2,20}", word):
        return ""
    if word in _ELSEWHERE:
        return _ELSEWHERE[word]
    if not (meant := _nearest(word)):
        return ""
    line = " ".join(["hfcount", meant, *(quote(printable(word_, 300)) for word_ in rest)])
    return f"There is no command {word}. Did you mean `{line}`?"


def _nearest(word: str) -> str:
    """The command that a word means, begins or misspells; empty if none."""
    others = {name: command for command, names in _MEANT.items() for name in names.split()}
    names = {name: name for name in COMMANDS} | others
    if word in names or "-" in word:  # many repos are called so, and no command is
        return names.get(word, "")
    if len(word) > 2 and (begun := [name for name in COMMANDS if name.startswith(word)]):
        return begun[0]
    from difflib import get_close_matches

    return next((names[name] for name in get_close_matches(word, names, 1, _NEAR)), "")


def check(models: Sequence[str]) -> None:
    """Raises WrongUsage if a MODEL is a mistyped command rather than a file or folder."""
    options = {name for param in click.get_current_context().command.params for name in param.opts}
    for place, model in enumerate(models):
        if "/" in model or os.path.lexists(model):
            continue
        repo = f"A repo of that name is hf://{printable(model, 100)}."
        if model in COMMANDS:
            raise WrongUsage(f"{model} is a command and must come first: `hfcount {model} ...`. {repo}")
        if f"--{model}" in options:
            raise WrongUsage(f"There is no command {model}, but the option --{model}. {repo}")
        if not place and (meant := hint(model, models[1:])):
            raise WrongUsage(f"{meant} {repo}")
