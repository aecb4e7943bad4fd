"""`hfcount saves MODEL`: what from_pretrained followed by save_pretrained writes of a checkpoint."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from hfcount.cli import option_types as read
from hfcount.cli import requests, shared_options
from hfcount.cli.option_groups import GroupedCommand, grouped
from hfcount.cli.output import ReaderGone, said
from hfcount.fetcher import Request
from hfcount.options import AskedDtype

if TYPE_CHECKING:
    from hfcount.diffing.saves.model import Saves
    from hfcount.verifier.loaders.loader import Loader

_EPILOG = """
\b
Examples:
  hfcount saves ./my-checkpoint                           with the newest recorded version
  hfcount saves org/name --with transformers@4.57         with an older one
  hfcount saves org/name --with transformers@4.57 --dtype auto
  hfcount saves ./my-checkpoint --json | jq .lost.rows

\b
Exit codes: 0 nothing stored is lost; 1 something is, or that version does not
load it; 2 wrong usage; 3 it cannot be said.
"""


def _loader(_context: click.Context, _option: click.Parameter, value: str) -> "Loader":
    from hfcount.api.arguments import saver_of

    try:
        return saver_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


_READ = (
    click.option("--revision", metavar="REV", help="Branch, tag or commit."),
    click.option("--subfolder", metavar="DIR", help="A folder of the repo."),
    shared_options.FIXTURES,
    shared_options.OFFLINE,
    shared_options.NO_CACHE,
    shared_options.timeout("--timeout", help="Time limit in seconds for all requests."),
)
_CALL = (
    click.option(
        "--with",
        "loader",
        default="transformers",
        show_default=True,
        metavar="LOADER",
        callback=_loader,
        help="transformers, or a recorded version of it, such as transformers@4.57 (`hfcount loaders` lists them).",
    ),
    click.option(
        "--dtype",
        type=click.Choice(get_args(AskedDtype)),
        help="The argument dtype of from_pretrained. Without it, version 4 loads in float32, and version 5 as auto.",
    ),
)
_SHOW = (
    click.option(
        "--format",
        "style",
        type=click.Choice(["table", "json", "markdown"], case_sensitive=False),
        default="table",
        show_default=True,
        help="table is for people; json for programs; markdown for a pull request.",
    ),
    shared_options.JSON,
    click.option("--details", is_flag=True, help="Show every row, and all that is written."),
    click.option("-q", "--quiet", is_flag=True, help="Print the answer alone, in one line."),
)


@click.command(
    cls=GroupedCommand,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("model", metavar="MODEL", shell_complete=read.some_file)
@grouped({"What to read": _READ, "Which call": _CALL, "What to show": _SHOW, "Other": (shared_options.DEBUG,)})
def command(
    model: str,
    *,
    revision: str | None,
    subfolder: str | None,
    fixtures: Path | None,
    offline: bool,
    no_cache: bool,
    timeout: float,
    loader: "Loader",
    dtype: AskedDtype | None,
    style: str,
    as_json: bool,
    details: bool,
    quiet: bool,
    debug: bool,
) -> int:
    """Say what transformers loses when it loads a checkpoint and saves it.

    from_pretrained drops what its class does not have, such as prediction layers, towers and other heads, and fills
    what is not stored. save_pretrained then writes a checkpoint that is sound, and is not the one that was loaded.
    Only headers are read.
    """
    del debug  # whoever reports a crash looks for it
    if quiet and (as_json or style != "table"):
        raise click.UsageError("--quiet does not go with --format or --json.")
    if as_json and style not in ("table", "json"):
        raise click.UsageError(f"--json means --format json, but --format {style} is also given. Leave one out.")
    request = requests.side(
        Request(model, revision, subfolder, fixtures, offline, timeout, not no_cache, headers="all")
    )
    from hfcount.checkpoints.inspection import Options
    from hfcount.diffing.saves.run import saves
    from hfcount.report.renderers.progress import Bar

    with Bar(1) as bar:
        bar.model(model)
        result = saves(request, loader, dtype, Options("headers", progress=bar.files, reading=bar.bytes))
    shown = "json" if as_json else style
    if not said(lambda: _text(result, shown, details, quiet)):
        raise ReaderGone
    return result.exit_code


def _text(result: "Saves", style: str, details: bool, quiet: bool) -> str:
    if quiet:
        return result.answer
    if style == "json":
        return result.to_json()
    if style == "markdown":
        return result.to_markdown()
    from hfcount.diffing.saves.text import render
    from hfcount.diffing.wrapping import wrapped

    return wrapped(render(result, details).split("\n"))
