"""What -h shows: the usual options of a command, on one screen."""

from collections.abc import Mapping
from textwrap import wrap

import click

from hfcount.cli.commands import COMMANDS

_USUAL = {
    "verify": "below depth loaders base allow strict quiet style outputs offline revision",
    "size": "settings schemes formula tensors plot style outputs offline revision",
    "serve": "memory ranks context batch dtype engine quiet style offline revision",
    "gate": "loaders memory ranks context engine depth allow strict offline revision",
}

_TEXTS: Mapping[str, str] = {
    "below": "every checkpoint in the folder MODEL",
    "depth": "how far to look: config, index, headers or data",
    "loaders": "check for this loader, such as vllm or transformers@4.57",
    "base": "the base model of an adapter or a GGUF file",
    "allow": "accept an error, such as HF201",
    "strict": "treat notes as errors",
    "quiet": "one line per model",
    "style": "table, json, markdown, github, concise, sarif, junit ...",
    "outputs": "also write a file, by its suffix: .json, .md, .html ...",
    "offline": "local files and the Hugging Face cache only",
    "revision": "branch, tag or commit",
    "settings": "also count with this value of a config key",
    "schemes": "also count in this quantisation: fp8, awq, nf4 ...",
    "formula": "the count as a formula, by component",
    "tensors": "every tensor, folded into rows",
    "plot": "draw the components: .svg, .png or .pdf",
    "memory": "memory of each GPU: 80GiB, H100, 2xH100. Does it fit?",
    "ranks": "split over so many GPUs (tensor parallelism): 2,4,8",
    "context": "tokens of each sequence, such as 32k",
    "batch": "number of sequences at once",
    "dtype": "dtype of the KV cache, such as fp8",
    "engine": "how much of the memory is used: vllm, vllm:0.9 or raw",
}

_PURPOSES = {
    "verify": "Check a checkpoint against its config: every tensor, and no other.",
    "size": "Count the parameters of a model by component.",
    "serve": "Compute the memory to serve a model: weights, cache and GPUs.",
    "gate": "Tell a launcher in one line and an exit code whether to start a model.",
}

_FOR_PROGRAMS = ("verify", "hook", "schema", "skill", "cache", "help", "version")
"""Commands that -h does not name: the default, and those that few type."""

_METAVARS = {"style": "FORMAT", "dtype": "DTYPE", "depth": "DEPTH"}


def short_help(context: click.Context) -> str:
    """The usual options of a command."""
    path = context.command_path
    name = context.command.name if context.command.name in _USUAL else "verify"
    rows = usual_options(context.command)
    width = max(len(spelled) for spelled, _ in rows)
    others = ", ".join(other for other in COMMANDS if other not in (name, *_FOR_PROGRAMS))
    return "\n".join(
        [
            f"Usage: {path} [OPTIONS] MODEL...",
            "",
            _PURPOSES[name or "verify"],
            "MODEL is a local folder or file, or a repo on the Hub: org/name, org/name@REV.",
            "",
            *(f"  {spelled:{width}}  {text}" for spelled, text in rows),
            "",
            f"{path} --help shows all options, `hfcount help COMMAND` those of:",
            *wrap(f"{others}.", 78),
        ]
    )


def usual_options(command: click.Command) -> list[tuple[str, str]]:
    """The usual options of a command, as they are typed, and what each is for."""
    name = command.name if command.name in _USUAL else "verify"
    params = {param.name: param for param in command.params}
    return [(_spelled(params[option]), _TEXTS[option]) for option in _USUAL[name or "verify"].split()]


def _spelled(param: click.Parameter) -> str:
    """`-o, --output FILE`."""
    names = ", ".join(sorted(param.opts, key=len))
    if isinstance(param, click.Option) and param.is_flag:
        return names
    return f"{names} {_METAVARS.get(param.name or '') or param.metavar or (param.name or '').upper()}"
