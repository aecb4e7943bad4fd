"""The skill for agents, made of the commands and their options: what `hfcount skill` prints.

The same text is installed as hfcount/.agents/skills/hfcount/SKILL.md, where tools look that collect the skills of
installed packages (library-skills 0.0.19, scanner.py); its form is that of agentskills.io.
"""

from collections.abc import Iterator

import click

from hfcount.cli.commands import COMMANDS, find
from hfcount.cli.short_help import usual_options

_BEGIN = """\
---
name: hfcount
description: >-
  Verify Hugging Face model checkpoints without downloading weights: are all tensors there, with the names, shapes,
  dtypes and sizes that config.json says? Count parameters, see whether a model fits GPUs, compare checkpoints, repair a
  config. Use before loading, serving, uploading, merging or converting a model, or when loading one fails with missing,
  unexpected or mismatched keys.
---

# hfcount

MODEL is a local folder or file, or a repo on the Hub: org/name, org/name@REV. Nothing of a repo is run, and no weights
are downloaded. Always ask for JSON, one object a model and line:

    hfcount --json MODEL

Read `verdict`, then `findings[].code`, `.message` and `.fix`, or `error.kind` and `error.message`. Sizes:
`parameters.total`, `parameters.active`, `memory.weights_bytes`.

| exit code | verdict | do |
|---|---|---|
| 0 | verified, explained, allowed; unverified with `depth` config, which only counts | go on |
| 1 | mismatch, or it does not fit | stop, and read `findings` |
| 2 | wrong usage | read standard error, which has an example |
| 3 | unverified: not read, or not enough evidence | read `error`; it says nothing against the checkpoint |
"""

_END = """\
## Rules

- Never edit config.json until it agrees: `hfcount fix PATH` shows the repair that is proven, and `--write` makes it.
- Values are not read without `--depth data`: a verified model may be badly trained.
- `hfcount rules CODE` explains a finding, `hfcount help COMMAND` has all options, `hfcount schema` the JSON Schema.
"""

_SHOWN = ("verify", "size", "serve")
"""The commands whose usual options are listed; those of gate are options of verify and serve."""

_LEFT_OUT = ("help", "version", "skill", "hook", "cache", "schema")
"""Commands that need no line."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Print the skill for agents (SKILL.md), to be saved where an agent looks for skills."""
    click.echo(text(), nl=False)


def text() -> str:
    """The skill."""
    return "\n".join([_BEGIN, *_commands(), _END])


def _commands() -> Iterator[str]:
    """A line for each command, and the usual options of some."""
    yield "## Commands\n"
    for name, command in COMMANDS.items():
        if name not in _LEFT_OUT:
            yield f"- `hfcount {command.usage}`: {command.purpose}"
    known = set[tuple[str, str]]()
    for name in _SHOWN:
        rows = [row for row in usual_options(find(name)) if row not in known]
        known |= {*rows}
        yield f"\nOptions of `{'' if name == 'verify' else name + ' '}MODEL`:\n"
        yield from (f"- `{spelled}`: {what}" for spelled, what in rows)
    yield "\n`hfcount gate` takes those of both, as in `hfcount gate MODEL --for vllm --tp 4 --memory H100`.\n"
