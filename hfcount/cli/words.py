"""Words that are neither a command nor a model: what was probably meant."""

import os
import re
from collections.abc import Sequence

import click

from hfcount.cli.commands import COMMANDS
from hfcount.text import printable

_MEANT = {
    "verify": "analyse analyze audit check compute count estimate examine inspect lint model run scan show test"
    " validate view",
    "fix": "correct mend patch repair",
    "sweep": "batch bulk crawl",
    "rules": "codes errors explain findings rule",
    "architectures": "archs families family models types",
    "cache clear": "clean clear prune purge",
    "help": "commands man usage",
}
"""What other tools call these commands."""

_ELSEWHERE = {
    "diff": "There is no command diff: `hfcount A B` verifies both, and prints them below each other.",
    "compare": "There is no command compare: `hfcount A B` verifies both, and prints them below each other.",
    "list": "There is no command list: `hfcount --list FILE` reads MODELs from a file, `hfcount architectures` lists"
    " model types.",
    **{
        name: f"There is no command {name}: that is `hf {command}`, of huggingface_hub."
        for name, command in {"download": "download", "login": "auth login", "upload": "upload"}.items()
    },
}
"""Words for what hfcount does not do."""

_NEAR = 0.75


def hint(word: str) -> str:
    """What to type in place of a word that is near to a command or another tool's name of one; empty if it is not."""
    if not re.fullmatch("[a-z-]{2,20}", word):
        return ""
    if word in _ELSEWHERE:
        return _ELSEWHERE[word]
    meant = next((command for command, words in _MEANT.items() if word in words.split()), "") or _nearest(word)
    return f"There is no command {word}. Did you mean `hfcount {meant}`?" if meant else ""


def _nearest(word: str) -> str:
    """The command that a word is the beginning of, or is a misspelling of."""
    if "-" in word:  # as many repos are called so, and no command is
        return ""
    if len(word) > 2 and (begun := [name for name in COMMANDS if name.startswith(word)]):
        return begun[0]
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, COMMANDS, 1, _NEAR)), "")


def check(models: Sequence[str]) -> None:
    """Raises click.UsageError if a MODEL is a word that is meant as a command, and no file or folder is called so."""
    for place, model in enumerate(models):
        if "/" in model or os.path.lexists(model):
            continue
        if model in COMMANDS:
            raise click.UsageError(
                f"{model} is a command, which goes first: hfcount {model} ... A local folder is ./{model}, a repo"
                f" hf://{model}."
            )
        if not place and (meant := hint(model)):
            raise click.UsageError(f"{meant} A repo of that name is hf://{printable(model)}.")
