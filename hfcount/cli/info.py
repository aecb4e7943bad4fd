"""Commands that print what hfcount knows or keeps: rules, architectures, the schema, the cache, the version."""

import json
from collections.abc import Iterator

import click

from hfcount.cli.option_types import some_rule, some_type
from hfcount.errors import UnknownArchitecture
from hfcount.text import printable

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.command(context_settings=_SETTINGS)
@click.argument("code", metavar="[CODE]", default="", shell_complete=some_rule)
def rules(code: str) -> None:
    """Explain all findings, or the one of a CODE or name."""
    for line in rule_lines(code):
        click.echo(line)


@click.command(context_settings=_SETTINGS)
@click.argument("name", metavar="[TYPE]", default="", shell_complete=some_type)
def types(name: str) -> None:
    """List the architectures, or describe one by its model_type, the name of a class or, for timm, timm/NAME."""
    for line in type_lines(name):
        click.echo(line)


@click.command(context_settings=_SETTINGS)
def loaders() -> None:
    """List the loaders that a verdict can be for: their versions, what is known of each, and how."""
    from hfcount.verifier.loaders.catalogue import LIBRARIES, versions_of

    for name, library in LIBRARIES.items():
        click.echo(f"{name}: {', '.join(versions_of(name))}")
        click.echo(f"  {library.evidence}: {library.knows}")


@click.command(context_settings=_SETTINGS)
@click.argument("of", metavar="[report|diff]", default="report", type=click.Choice(["report", "diff"]))
def schema(of: str) -> None:
    """Print the JSON Schema of --format json: of the reports of verify, or of what diff says."""
    for line in schema_lines() if of == "report" else _diff_schema():
        click.echo(line)


@click.command(context_settings=_SETTINGS)
@click.argument("action", metavar="[clear]", default="show", type=click.Choice(["show", "clear"]))
def cache(action: str) -> None:
    """Show where hfcount keeps what it has read of the Hub, and how much that is; `clear` removes it."""
    for line in cleared_lines() if action == "clear" else _cache_lines():
        click.echo(line)


@click.command(context_settings=_SETTINGS)
def version() -> None:
    """Show the version."""
    from hfcount.version import __version__

    click.echo(f"hfcount {__version__}")


def rule_lines(name: str) -> Iterator[str]:
    """All rules, or those with a code, a prefix of it or a name; raises click.BadParameter if there is none."""
    from hfcount.verifier.rules import RULES, lookup

    rule = lookup(name) if name else None
    rules = [rule] if rule else [rule_ for code, rule_ in RULES.items() if code.startswith(name.upper())]
    if not rules:
        raise click.BadParameter(f"no rule is called {printable(name, 60)}. `hfcount rules` lists them.")
    for rule_ in rules:
        yield f"{rule_.code} {rule_.name} ({rule_.level})\n  {rule_.what}\n  Why: {rule_.why}\n  Fix: {rule_.remedy}"
        yield "".join(f"  {name}: {what}\n" for name, what in rule_.variants.items()) + f"  {rule_.url}\n"


def type_lines(name: str) -> Iterator[str]:
    """All architectures, or one by model_type or class; raises click.BadParameter if there is none."""
    from hfcount.cli import architectures

    try:
        if name.startswith("timm/"):
            from hfcount.cli import timm_model  # its list takes a moment to read

            yield from timm_model.lines(name)
            return
        yield from architectures.one(name) if name else architectures.everything()
    except UnknownArchitecture as error:
        raise click.BadParameter(str(error)) from None


def schema_lines() -> Iterator[str]:
    """The JSON Schema of --format json."""
    from hfcount.report.model import Report

    yield json.dumps(Report.model_json_schema(), indent=2)


def _diff_schema() -> Iterator[str]:
    from hfcount.diffing.model import Diff

    yield json.dumps(Diff.model_json_schema(), indent=2)


def cleared_lines() -> Iterator[str]:
    """Empties the cache and reports its size."""
    from hfcount.fetcher import evidence_cache

    root, size = evidence_cache.clear()
    yield f"removed {root} ({size:,} bytes)"


def _cache_lines() -> Iterator[str]:
    from hfcount.fetcher import evidence_cache

    root, size = evidence_cache.measured()
    yield f"{root}: {size:,} bytes"
    yield "`hfcount cache clear` removes it; --no-cache leaves it out of a run. Weights are never kept there."
