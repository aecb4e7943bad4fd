"""The command line: the only module that prints or exits."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, get_args

import click

from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.pipeline import AskedDepth, Options, failed, inspect
from hfcount.report import Extra, Report, worst
from hfcount.reporters.progress import Bar
from hfcount.verifier.rules import RULES, Policy, lookup

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

\b
Exit codes: 0 verified or explained, 1 mismatch, 2 wrong usage, 3 unverified or
could not look. With several models 1 goes before 3.

\b
Shell completion: eval "$(_HFCOUNT_COMPLETE=bash_source hfcount)" in ~/.bashrc
(zsh_source in ~/.zshrc; for fish, fish_source | source).
"""


def _print_rules(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        for rule in RULES.values():
            click.echo(
                f"{rule.code} {rule.name} ({rule.severity})\n  {rule.what}\n  Why: {rule.why}\n  Do: {rule.do}\n"
            )
        context.exit()


def _print_families(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from hfcount import families

        for family in families.everyone():
            click.echo(f"{', '.join(family.MODEL_TYPES)}: {' '.join((family.__doc__ or '').split())}")
        context.exit()


def _codes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> frozenset[str]:
    rules = [(value, lookup(value)) for value in values]
    for value, rule in rules:
        if rule is None:
            raise click.BadParameter(f"no rule is called {value}. `hfcount --rules` lists them.")
    return frozenset(rule.code for _, rule in rules if rule)


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
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="For people, for programs (one object a line), for a model card or a pull request.",
)
@click.option("--formula", is_flag=True, help="The closed form of each component.")
@click.option("--tensors", is_flag=True, help="Every tensor the config describes, folded into rows.")
@click.option("--save", type=click.Path(path_type=Path), metavar="DIR", help="Record what was read, for --fixtures.")
@click.option("--allow", multiple=True, metavar="CODE", callback=_codes, help="Take an error as a note (repeatable).")
@click.option("--strict", is_flag=True, help="Take every note but HF102 as an error.")
@click.option(
    "--families",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_families,
    help="List the architectures.",
)
@click.option(
    "--rules", is_flag=True, is_eager=True, expose_value=False, callback=_print_rules, help="Explain every finding."
)
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
    save: Path | None,
    allow: frozenset[str],
    strict: bool,
) -> int:
    """Verify that a checkpoint holds exactly what its config says.

    Each MODEL is a local folder if one exists, else a repo on the Hugging Face Hub. config.json and
    model.safetensors.index.json are read, every tensor is derived from the config, and the two are compared to the
    byte; where the index does not settle it, the headers of the safetensors files are read, too. No weights are
    downloaded.
    """
    if everything:
        if fixtures is None or models:
            raise click.UsageError("--all goes with --fixtures DIR and without MODEL.")
        try:
            models = _all_models(fixtures)
        except HfcountError as error:
            report = failed(str(fixtures), error)
            if style == "json":
                _echo(report.to_json())
            return _print([report], style)
    if not models:
        raise click.UsageError("Name a MODEL, or --fixtures DIR --all. `hfcount --help` shows examples.")
    asked: dict[Extra, bool] = {"tensors": tensors, "formula": formula}
    extras = [name for name, wanted in asked.items() if wanted]
    reports = []
    with Bar(len(models)) as bar:
        options = Options(depth, Policy(allow, strict), save, extras, bar.files)
        for model in models:
            bar.model(model)
            request = Request(model, revision, subfolder, fixtures, offline)
            try:
                report = inspect(request, options)
            except HfcountError as error:
                report = failed(model, error)
            reports.append(report)
            if style == "json":
                _echo(report.to_json())
    return _print(reports, style)


class _ReaderGone(Exception):
    """Whoever reads the output has had enough, as in `hfcount ... | head`."""


def _echo(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        raise _ReaderGone from None


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


def _all_models(fixtures: Path) -> tuple[str, ...]:
    from hfcount.fetcher.folder import all_fixtures

    return tuple(all_fixtures(fixtures))


def _print(reports: Sequence[Report], style: str) -> int:
    """Prints what is not printed yet, and returns the exit code."""
    if style == "markdown":
        _print_markdown(reports)
    elif style == "table":
        _print_table(reports)
    return worst([report.exit_code for report in reports])


def _print_table(reports: Sequence[Report]) -> None:
    from rich.console import Console

    from hfcount.reporters import table

    console = Console(highlight=False)
    with console.capture() as captured:
        if len(reports) > 1:
            console.print(table.summary(reports))
        for report in reports if len(reports) == 1 else [report for report in reports if report.exit_code]:
            if len(reports) > 1:
                console.print()
            for part in table.details(report):
                console.print(part)
    _echo("\n".join(line.rstrip() for line in captured.get().split("\n")).rstrip())


def _print_markdown(reports: Sequence[Report]) -> None:
    from hfcount.reporters import markdown

    parts = [markdown.summary(reports)] if len(reports) > 1 else []
    parts += [markdown.details(report) for report in reports if len(reports) == 1 or report.exit_code]
    _echo("\n\n".join(parts))
