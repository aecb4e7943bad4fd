"""The options of `hfcount verify`, in the groups in which --help shows them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from hfcount.cli import option_types as read
from hfcount.cli import output_files, shared_options
from hfcount.cli.cards import CARD
from hfcount.cli.option_groups import Decorator
from hfcount.cli.serving import serving
from hfcount.report.renderers import ALIASES, FORMATS, OUTPUTS


def _printing(name: str, metavar: str | None, complete: Any, help: str) -> Decorator:
    """An option that prints information instead of a run, as the command of that name does."""

    def callback(context: click.Context, _option: click.Parameter, wanted: str | bool | None) -> None:
        if wanted in (None, False) or context.resilient_parsing:
            return
        from hfcount.cli import info

        commands: Mapping[str, Callable[[str], Iterator[str]]] = {
            "--rules": info.rule_lines,
            "--families": info.type_lines,
            "--schema": lambda _: info.schema_lines(),
            "--clear-cache": lambda _: info.cleared_lines(),
        }
        for line in commands[name](str(wanted)):
            click.echo(line)
        context.exit()

    flag: dict[str, Any] = {"is_flag": True} if metavar is None else {"is_flag": False, "flag_value": ""}
    return click.option(
        name,
        is_eager=True,
        expose_value=False,
        metavar=metavar,
        shell_complete=complete,
        callback=callback,
        help=help,
        **flag,
    )


def _hidden(option: Decorator) -> Decorator:
    """An option that works and that another command shows."""

    def add(function: Any) -> Any:
        before = len(getattr(function, "__click_params__", ()))
        function = option(function)
        for param in function.__click_params__[before:]:
            param.hidden = True
        return function

    return add


def _usual(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Prints the usual options instead of a run."""
    if wanted and not context.resilient_parsing:
        from hfcount.cli.short_help import short_help

        click.echo(short_help(context))
        context.exit()


_READ = (
    click.option("--revision", metavar="REV", help="Branch, tag or commit."),
    click.option("--subfolder", metavar="DIR", help="A folder of the repo."),
    click.option(
        "-r",
        "--recursive",
        "below",
        is_flag=True,
        help="Every checkpoint in each local folder MODEL (default: the current folder), without hidden and"
        " git-ignored folders.",
    ),
    click.option(
        "--list",
        "listed",
        type=str,
        multiple=True,
        metavar="FILE",
        shell_complete=read.some_file,
        callback=read.listed,
        help="Models from a file, one per line; - is standard input, as it is for MODEL.",
    ),
    shared_options.FIXTURES,
    click.option("--all", "everything", is_flag=True, help="With --fixtures: every checkpoint below DIR."),
    click.option(
        "--base",
        metavar="MODEL",
        shell_complete=read.some_file,
        help="The base model of an adapter or a GGUF file: a folder, a config.json, a repo, or a GGUF model for a LoRA"
        " in GGUF.",
    ),
    click.option(
        "--target",
        metavar="MODEL",
        shell_complete=read.some_file,
        help="The target model of a speculative draft: a folder, a config.json or a repo. Checks that the draft fits"
        " it.",
    ),
    shared_options.OFFLINE,
    shared_options.NO_CACHE,
    shared_options.timeout(
        "--timeout", help="Time limit in seconds for one MODEL: its requests, and the search for causes."
    ),
)

_LOOK = (
    shared_options.depth(
        "How far to look: config only counts; index compares names and sizes; headers also shapes and dtypes; data also"
        " reads all values of local files."
    ),
    shared_options.DERIVE_WITH,
    click.option(
        "--for",
        "loaders",
        multiple=True,
        metavar="LOADER",
        callback=read.loaders,
        shell_complete=read.some_loader,
        help="Check for this loader, such as vllm or transformers@4.57 (repeatable; see `hfcount loaders`). "
        " [default: the library that the checkpoint is made for]",
    ),
    click.option(
        "--allow",
        multiple=True,
        metavar="CODE",
        callback=read.codes,
        shell_complete=read.some_rule,
        help="Accept this error, for the exit code; the report still lists it (repeatable).",
    ),
    click.option(
        "--strict/--no-strict",
        cls=read.NamingRules,
        help="Treat notes as errors, except informational ones ({informational}).",
    ),
    click.option(
        "--locked",
        type=click.Path(path_type=Path),
        metavar="FILE",
        shell_complete=read.some_file,
        help="Check instead that MODEL is as it was locked by `hfcount lock`: every file that a loader reads.",
    ),
    *shared_options.SETTINGS,
)


class _Formats(click.Choice[str]):
    """The formats of standard output; of a picture it says how it is written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = str(value).lower()
        if name in OUTPUTS and name not in self.choices:
            self.fail(f"{name} is a picture: name its file, as in -o sizes.{name}.", param, ctx)
        return super().convert(value, param, ctx)


_SHOW = (
    click.option(
        "--format",
        "style",
        type=_Formats([*FORMATS, *ALIASES], case_sensitive=False),
        default="table",
        show_default=True,
        metavar="FORMAT",
        callback=read.format_named,
        expose_value=False,
        help="; ".join(f"{name} is {format.purpose}" for name, format in FORMATS.items()) + ".",
    ),
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        callback=read.format_flag,
        expose_value=False,
        help="The same as --format json.",
    ),
    click.option(
        "-q",
        "--quiet",
        is_flag=True,
        callback=read.format_flag,
        expose_value=False,
        help="Print one line per model: its verdict.",
    ),
    click.option(
        "--details",
        is_flag=True,
        callback=read.format_flag,
        expose_value=False,
        help="Print everything about every model, failing or not.",
    ),
    _hidden(
        click.option(
            "--formula", is_flag=True, help="Print the parameter formula by component, by kind of layer and in total."
        )
    ),
    _hidden(click.option("--tensors", is_flag=True, help="List every tensor, folded into rows.")),
)

_WHAT_IF = (
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        callback=read.settings,
        help="Also count the model with this config value (repeatable; a KEY given twice makes two what-ifs).",
    ),
    click.option(
        "--quantize",
        "schemes",
        multiple=True,
        metavar="SCHEME",
        callback=read.schemes,
        help="Also count the size in this quantisation: fp8, awq, gptq, nvfp4, mxfp4, nf4, mlx-4 ... (repeatable).",
    ),
)

_OUTPUT = (
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="FILE",
        shell_complete=read.some_file,
        callback=output_files.outputs,
        help=f"Also write a file, by its suffix or as FORMAT:FILE (repeatable); FORMAT:- prints it instead:"
        f" {', '.join(OUTPUTS)}.",
    ),
    _hidden(
        click.option(
            "--plot",
            metavar="FILE",
            callback=output_files.figure,
            shell_complete=read.some_file,
            help="Draw the components of all models: .svg, .png or .pdf.",
        )
    ),
    _hidden(click.option("--dark", is_flag=True, help="Draw it on a dark background.")),
    click.option(
        "--html",
        "page",
        metavar="FILE",
        callback=output_files.page,
        shell_complete=read.some_file,
        help="Write a self-contained HTML page.",
    ),
    CARD,
    click.option(
        "--save",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Save what was read to DIR, for --fixtures DIR.",
    ),
)

_OTHER = (
    _hidden(_printing("--rules", "[CODE]", read.some_rule, "Explain findings: `hfcount rules`.")),
    _hidden(
        _printing(
            "--families",
            "[TYPE]",
            read.some_type,
            "List the known model types, or describe one: `hfcount architectures`.",
        )
    ),
    _hidden(_printing("--schema", None, None, "Print the JSON Schema of --format json: `hfcount schema`.")),
    _hidden(_printing("--clear-cache", None, None, "Empty hfcount's cache: `hfcount cache clear`.")),
    click.option(
        "--install-completion",
        is_flag=False,
        flag_value="",
        is_eager=True,
        expose_value=False,
        metavar="[SHELL]",
        callback=read.completion,
        help="Install completion for bash, zsh or fish (default: the shell of $SHELL).",
    ),
    shared_options.DEBUG,
    click.option(
        "-h",
        "usual",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_usual,
        help="Show the usual options and exit.",
    ),
    click.version_option(package_name="hfcount", prog_name="hfcount", message="%(prog)s %(version)s"),
)

OPTIONS: Mapping[str, Sequence[Decorator]] = {
    "What to read": _READ,
    "How far to look, and how strictly": _LOOK,
    "What to show": _SHOW,
    "What if": tuple(map(_hidden, _WHAT_IF)),
    "Serving": (_hidden(serving),),
    "Files to write": _OUTPUT,
    "Other": _OTHER,
}
