"""The command line: the only module that prints or exits."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, get_args

import click

from hfcount.cli import options as read
from hfcount.errors import BadSetting, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.files import write
from hfcount.fetcher.fixtures import all_fixtures
from hfcount.mapper.whatif import Changes
from hfcount.pipeline import AskedDepth, Options, failed, inspect, what_ifs
from hfcount.report.model import Extra, Report, worst
from hfcount.report.serving import CACHE_DTYPES, Workload
from hfcount.reporters import FORMATS, Format
from hfcount.reporters.progress import Bar
from hfcount.verifier.policy import Policy
from hfcount.verifier.rules import RULES

_NEUTRAL = ", ".join(rule.code for rule in RULES.values() if rule.neutral)

_EPILOG = """
\b
Examples:
  hfcount Qwen/Qwen3-32B                       a repo on the Hub
  hfcount Qwen/Qwen3-32B --revision refs/pr/1  a pull request of it
  hfcount ./my-checkpoint                      a local folder
  hfcount --offline Qwen/Qwen3-32B             the Hugging Face cache alone
  hfcount --fixtures fixtures --all            every recorded checkpoint
  hfcount --depth config --formula ./my-model  count and explain, do not compare
  hfcount --format json A B | jq .verdict      one object per model and line
  hfcount A B C --plot sizes.svg               compare models, and draw them
  hfcount A --set num_key_value_heads=1        what if?
  hfcount A --context 32768 --batch 4          what serving it takes

\b
Exit codes: 0 verified or explained, 1 mismatch, 2 wrong usage, 3 unverified or
could not look. With several models the worst decides: 1, then 3, then 0.

\b
Shell completion: eval "$(_HFCOUNT_COMPLETE=bash_source hfcount)" in ~/.bashrc
(zsh_source in ~/.zshrc; for fish, fish_source | source).
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("models", nargs=-1, metavar="MODEL...")
@click.option("--revision", metavar="REV", help="Branch, tag or commit.")
@click.option("--subfolder", metavar="DIR", help="A folder of the repo.")
@click.option(
    "--fixtures", type=click.Path(path_type=Path), metavar="DIR", help="Read DIR/<org>/<name>/ instead of the Hub."
)
@click.option("--all", "everything", is_flag=True, help="With --fixtures: every checkpoint below DIR.")
@click.option("--offline", is_flag=True, help="The Hugging Face cache only.")
@click.option(
    "--depth",
    type=click.Choice(get_args(AskedDepth)),
    default="auto",
    show_default=True,
    help="How far to look: count only, compare the index, or compare every header.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="; ".join(f"{name} is {one.purpose}" for name, one in FORMATS.items()) + ".",
)
@click.option("--formula", is_flag=True, help="The closed form: by component, by kind of layer, and in all.")
@click.option("--tensors", is_flag=True, help="Every tensor the config describes, folded into rows.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=read.settings,
    help="Also count the config with this value set (repeatable; a KEY given twice makes two what-ifs).",
)
@click.option("--context", type=read.COUNT, metavar="TOKENS", help="Cache and multiply-adds at this context length.")
@click.option("--batch", type=read.COUNT, default=1, metavar="N", help="Number of sequences of --context tokens.")
@click.option(
    "--kv-dtype", type=click.Choice(CACHE_DTYPES), help="The dtype of cached keys and values (default: the config's)."
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    callback=read.drawable,
    help="Draw the components of all models: .svg, .png or .pdf.",
)
@click.option("--dark", is_flag=True, help="Draw it on a dark background.")
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    callback=read.renderable,
    help="Write everything as one self-contained page.",
)
@click.option("--save", type=click.Path(path_type=Path), metavar="DIR", help="Record what was read, for --fixtures.")
@click.option(
    "--allow", multiple=True, metavar="CODE", callback=read.codes, help="Downgrade an error to a note (repeatable)."
)
@click.option("--strict", is_flag=True, help=f"Upgrade every note but {_NEUTRAL} to an error.")
@read.printing("--families", read.architectures, "List the architectures.")
@read.printing("--rules", read.rules, "Explain every finding.")
@read.printing("--schema", read.schema, "Print the JSON Schema of --format json.")
@click.version_option(package_name="hfcount", prog_name="hfcount", message="%(prog)s %(version)s")
def main(
    models: tuple[str, ...],
    revision: str | None,
    subfolder: str | None,
    fixtures: Path | None,
    everything: bool,
    offline: bool,
    depth: AskedDepth,
    style: str,
    formula: bool,
    tensors: bool,
    settings: Sequence[Changes],
    context: int | None,
    batch: int,
    kv_dtype: str | None,
    plot: Path | None,
    dark: bool,
    page: Path | None,
    save: Path | None,
    allow: frozenset[str],
    strict: bool,
) -> int:
    """Verify that a checkpoint holds exactly what its config says.

    Each MODEL is a local folder or config.json if there is one, else a repo on the Hugging Face Hub. config.json and
    model.safetensors.index.json are read, every tensor is derived from the config, and the two are compared to the
    byte; where the index does not settle it, the headers of the safetensors files are read, too. No weights are
    downloaded.
    """
    format = FORMATS[style]
    if everything:
        if fixtures is None or models:
            raise click.UsageError("--all goes with --fixtures DIR and without MODEL.")
        try:
            models = tuple(all_fixtures(fixtures))
        except HfcountError as error:
            report = failed(str(fixtures), error)
            _echo(format.render([report]))
            return report.exit_code
    if batch > 1 and context is None:
        raise click.UsageError("--batch goes with --context: that many sequences of how many tokens?")
    if dark and plot is None:
        raise click.UsageError("--dark goes with --plot.")
    if settings and (depth in ("index", "headers") or save):
        raise click.UsageError("--set counts what was never published: leave out --depth index or headers, and --save.")
    if not models:
        raise click.UsageError("Name a MODEL, or --fixtures DIR --all. `hfcount --help` shows examples.")
    asked: dict[Extra, bool] = {"tensors": tensors, "formula": formula, "layers": formula}
    extras = [name for name, wanted in asked.items() if wanted or page]
    unasked: dict[str, Any] = {name: None for name in extras if not asked[name]}  # only the page wants these
    gone = False
    whole: list[Report] = []
    reports: list[Report] = []
    with Bar(len(models)) as bar:
        options = Options(depth, Policy(allow, strict), save, extras, Workload(context, batch, kv_dtype), bar.files)
        for model in models:
            bar.model(model)
            request = Request(model, revision, subfolder, fixtures, offline)
            try:
                found = what_ifs(request, options, settings) if settings else [inspect(request, options)]
            except BadSetting as error:
                raise click.BadParameter(str(error), param_hint="--set") from None
            except HfcountError as error:
                found = [failed(model, error)]
            whole += found
            reports += [replace(report, **unasked) for report in found]
            if format.streamed and not gone:
                gone = not _print(format, reports[-len(found) :])
    if not format.streamed:
        gone = not _print(format, reports)  # what was asked for besides is still wanted
    if plot:
        from hfcount.reporters import plots

        _write(plot, lambda: plots.draw(reports, read.picture(plot), dark))
    if page:
        from hfcount.reporters.page import render

        _write(page, lambda: render(whole).encode())
    if gone:
        raise _ReaderGone
    return worst([report.exit_code for report in reports])


def _write(path: Path, make: Callable[[], bytes]) -> None:
    """Writes a file, or says why not; what was printed stands."""
    try:
        write(path.resolve(), make())  # a link stays a link
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _NotWritten(f"{path} is not written: {why}") from None


class _NotWritten(click.ClickException):
    exit_code = 3


class _ReaderGone(Exception):
    """Nobody reads the output any more, as in `hfcount ... | head`."""


def _echo(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        raise _ReaderGone from None


def _print(format: Format, reports: Sequence[Report]) -> bool:
    """Prints the reports; whether anybody still reads them."""
    try:
        _echo(format.render(reports))
    except _ReaderGone:
        return False
    return True


def run() -> NoReturn:
    """Runs the command and exits with its code; Ctrl-C is 130, as in a shell."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # not every terminal can show a formula
    try:
        code = main(standalone_mode=False) or 0
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = 130
    except (_ReaderGone, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
