"""How options of the command line are parsed; a wrong value raises click.BadParameter."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from hfcount.errors import BadSetting, UnknownArchitecture

if TYPE_CHECKING:
    from hfcount.mapper.whatif import Changes


def printing(name: str, lines: Callable[[], Iterator[str]], help: str) -> Callable[[Any], Any]:
    """An option that prints something else in place of a run."""

    def callback(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            for line in lines():
                click.echo(line)
            context.exit()

    return click.option(name, is_flag=True, is_eager=True, expose_value=False, callback=callback, help=help)


def families(context: click.Context, _option: click.Parameter, model_type: str | None) -> None:
    """Prints all architectures, or the one of a type, in place of a run."""
    if model_type is None or context.resilient_parsing:
        return
    from hfcount.cli import catalogue

    try:
        for line in catalogue.one(model_type) if model_type else catalogue.everything():
            click.echo(line)
    except UnknownArchitecture as error:
        raise click.BadParameter(str(error)) from None
    context.exit()


def rules() -> Iterator[str]:
    """Every finding, explained."""
    from hfcount.verifier.rules import RULES

    for rule in RULES.values():
        yield f"{rule.code} {rule.name} ({rule.severity})\n  {rule.what}\n  Why: {rule.why}\n  Do: {rule.do}\n"


def schema() -> Iterator[str]:
    """The JSON Schema of --format json."""
    from hfcount.report.model import Report

    yield json.dumps(Report.model_json_schema(), indent=2)


def cleared() -> Iterator[str]:
    """What is removed of the cache."""
    from hfcount.fetcher import evidence

    root, size = evidence.clear()
    yield f"removed {root} ({size:,} bytes)"


def codes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> frozenset[str]:
    """Codes of rules, given by code or by name."""
    if not values:
        return frozenset()
    from hfcount.verifier.rules import lookup

    rules = [(value, lookup(value)) for value in values]
    for value, rule in rules:
        if rule is None:
            raise click.BadParameter(f"no rule is called {value}. `hfcount --rules` lists them.")
    return frozenset(rule.code for _, rule in rules if rule)


def settings(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> "Sequence[Changes]":
    """The what-ifs that KEY=VALUE pairs ask for."""
    if not values:
        return ()
    from hfcount.mapper.whatif import parsed, variants

    pairs = [value.partition("=") for value in values]
    for (key, equals, _), value in zip(pairs, values, strict=True):
        if not key or not equals:
            raise click.BadParameter(f"{value} is not KEY=VALUE, as in --set num_key_value_heads=8.")
    try:
        return variants((key, parsed(text)) for key, _, text in pairs)
    except BadSetting as error:
        raise click.BadParameter(str(error)) from None


def schemes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> "Sequence[Changes]":
    """The what-ifs that names of quantisation schemes ask for."""
    if not values:
        return ()
    from hfcount.mapper.whatif import QUANTIZATION
    from hfcount.storage.schemes.presets import PRESETS

    for value in values:
        if value.lower() not in PRESETS:
            raise click.BadParameter(f"{value} is not among {', '.join(PRESETS)}.")
    return [{QUANTIZATION: dict(PRESETS[value.lower()])} for value in dict.fromkeys(values)]


def _needs(module: str, extra: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise click.BadParameter(f"{module} is not installed, which this needs: pip install 'hfcount[{extra}]'")


def installed(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """The name of a library, which must be installed."""
    if name:
        _needs(name, name)
        _needs("torch", name)
    return name


def _ready(path: Path, *suffixes: str) -> Path:
    """A path that can be written and has one of the suffixes, so that no input is overwritten by mistake."""
    if path.suffix.lower() not in suffixes:
        raise click.BadParameter(f"{path} must end in {' or '.join(suffixes)}: the suffix says what to write.")
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"{path.parent} is not a folder. Make it first.")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        raise click.BadParameter(f"{path} exists and is not a writable file.")
    return path


def drawable(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Where to write a figure; the suffix says its kind."""
    if path is None:
        return None
    path = _ready(path, ".svg", ".png", ".pdf")
    _needs("matplotlib", "plot")
    return path


def renderable(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Where to write a page."""
    if path is None:
        return None
    path = _ready(path, ".html", ".htm")
    _needs("jinja2", "html")
    return path


def picture(path: Path) -> Literal["svg", "png", "pdf"]:
    """The kind of figure, by the file's suffix."""
    return cast(Literal["svg", "png", "pdf"], path.suffix[1:].lower())


COUNT = click.IntRange(1, 2**40)
"""Tokens or sequences."""
