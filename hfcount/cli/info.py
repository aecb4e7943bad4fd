"""Commands that print what hfcount knows or keeps: rules, architectures, the schema, the cache, the version."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from hfcount.cli import shared_options
from hfcount.cli.option_groups import AnsweringCommand
from hfcount.cli.option_types import some_rule, some_type
from hfcount.errors import BrokenPlugin, UnknownArchitecture
from hfcount.text import printable

if TYPE_CHECKING:
    from hfcount.verifier.finding import Finding

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.command(cls=AnsweringCommand, context_settings=_SETTINGS)
@click.argument("words", metavar="[CODE|WORD]...", nargs=-1, shell_complete=some_rule)
@click.option("--all", "everything", is_flag=True, help="Explain all findings.")
@shared_options.json_instead("Print JSON, one object per finding and line.")
def rules(words: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Explain findings by CODE, name or WORD; without one, list all.

    A CODE may be the beginning of several, such as HF3.
    """
    text = " ".join(words)
    if as_json:
        for rule in found_rules(text):
            click.echo(json.dumps(_rule_object(rule)))
        return
    for line in rule_lines(text) if text or everything else _rule_list():
        click.echo(line)


@click.command(cls=AnsweringCommand, context_settings=_SETTINGS)
@click.argument("words", metavar="[TYPE|WORD]...", nargs=-1, shell_complete=some_type)
@shared_options.json_instead("Print JSON, one object per type and line.")
def types(words: tuple[str, ...], as_json: bool) -> None:
    """Describe an architecture by its model_type, its class or timm/NAME, or find it by a WORD.

    Without one, list all.
    """
    text = " ".join(words)
    for line in map(json.dumps, type_objects(text)) if as_json else type_lines(text):
        click.echo(line)


_EVIDENCE = {"run": "checked by running it", "read": "from its source"}


@click.command(cls=AnsweringCommand, context_settings=_SETTINGS)
@shared_options.json_instead("Print JSON, one object per library and line.")
def loaders(as_json: bool) -> None:
    """List the libraries that --for can name: their versions, what hfcount knows of each, and how."""
    from hfcount.verifier.loaders.catalogue import LIBRARIES, versions_of

    for name, library in LIBRARIES.items():
        if as_json:
            known = {"loader": name, "versions": list(versions_of(name)), "forms": [*library.forms]}
            click.echo(json.dumps({**known, "evidence": library.evidence, "knows": library.knows}))
            continue
        click.echo(f"{name}: {', '.join(versions_of(name))}")
        click.echo(f"  {_EVIDENCE.get(library.evidence, library.evidence)}: {library.knows}")


@click.command(context_settings=_SETTINGS)
@click.argument("of", metavar="[report|diff]", default="report", type=click.Choice(["report", "diff"]))
def schema(of: str) -> None:
    """Print the JSON Schema of --format json: of reports, or of hfcount diff."""
    for line in schema_lines() if of == "report" else _diff_schema():
        click.echo(line)


@click.command(context_settings=_SETTINGS)
@click.argument("action", metavar="[clear]", default="show", type=click.Choice(["show", "clear"]))
def cache(action: str) -> None:
    """Show the folder and the size of hfcount's cache of what it read from the Hub; `clear` empties it."""
    for line in cleared_lines() if action == "clear" else _cache_lines():
        click.echo(line)


@click.command(context_settings=_SETTINGS)
def version() -> None:
    """Show the version."""
    from hfcount.version import __version__

    click.echo(f"hfcount {__version__}")


def found_rules(text: str) -> "list[type[Finding]]":
    """The rules with a code, a prefix of it or a name, or that all words of a text are found in.

    Raises:
        click.BadParameter: there is none.
    """
    from hfcount.verifier.rules import RULES, lookup

    if (rule := lookup(text) if text else None) is not None:
        return [rule]
    wanted = text.lower().split()
    rules = [rule for code, rule in RULES.items() if code.startswith(text.upper())]
    rules = rules or [rule for rule in RULES.values() if all(word in _words_of(rule) for word in wanted)]
    if not rules:
        raise click.BadParameter(
            f"no finding has {printable(text, 60)} in its code, name or text. `hfcount rules` lists them."
        )
    return rules


def rule_lines(text: str) -> Iterator[str]:
    """The explanations of the rules that `found_rules` finds."""
    for rule in found_rules(text):
        yield f"{rule.code} {rule.name} ({rule.level})\n  {rule.what}\n  Why: {rule.why}\n  Fix: {rule.remedy}"
        yield "".join(f"  {name}: {what}\n" for name, what in rule.variants.items()) + f"  {rule.url}\n"


def _rule_list() -> Iterator[str]:
    """A line for each rule."""
    from hfcount.verifier.rules import RULES

    for rule in RULES.values():
        yield f"{rule.code}  {rule.level:5}  {rule.name}"
    yield "\n`hfcount rules CODE` explains one, `hfcount rules WORD` searches, `hfcount rules --all` explains all."


def _words_of(rule: "type[Finding]") -> str:
    return " ".join((rule.code, rule.name, rule.what, rule.why, rule.remedy, *rule.variants.values())).lower()


def _rule_object(rule: "type[Finding]") -> dict[str, object]:
    """A rule as JSON has it."""
    names = ("code", "name", "level", "what", "why", "remedy", "url")
    return {name: getattr(rule, name) for name in names} | {"variants": dict(rule.variants)}


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
        if not isinstance(error, BrokenPlugin) and (lines := [*architectures.having(name)]):
            yield from lines
            return
        raise click.BadParameter(str(error)) from None


def type_objects(name: str) -> Iterator[dict[str, object]]:
    """All types, or one by model_type or class, or those that a text is found in, as JSON has them.

    Raises:
        click.BadParameter: there is none.
    """
    from hfcount.cli import architectures

    if name.startswith("timm/"):
        raise click.BadParameter("models of timm are described in text alone: leave out --json.")
    try:
        known = [architectures.facts_of(name)] if name else architectures.facts_of_all()
    except UnknownArchitecture as error:
        if isinstance(error, BrokenPlugin) or not (known := [*architectures.facts_having(name)]):
            raise click.BadParameter(str(error)) from None
    for facts in known:
        yield facts._asdict()


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
    yield "`hfcount cache clear` removes it; --no-cache runs without it. It never holds weights."
