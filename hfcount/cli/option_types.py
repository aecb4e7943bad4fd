"""Parses and completes values of options; a wrong value raises click.BadParameter."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hfcount.errors import BadSetting
from hfcount.report.renderers import ALIASES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hfcount.mapper.whatif import Changes
    from hfcount.verifier.loaders.loader import Loader


def some_file(_context: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Lets the shell complete file names."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def some_rule(_context: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Codes and names of findings with this prefix."""
    from click.shell_completion import CompletionItem

    from hfcount.verifier.rules import RULES

    codes = [CompletionItem(rule.code, help=rule.name) for rule in RULES.values()]
    names = [CompletionItem(rule.name, help=rule.code) for rule in RULES.values()] if incomplete else []
    return [item for item in (*codes, *names) if item.value.lower().startswith(incomplete.lower())]


def some_type(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Model types with this prefix."""
    from hfcount.architectures.families import all_types

    return [name for name in all_types() if name.startswith(incomplete)]


def some_model(context: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Files, and commands for the first word."""
    from click.shell_completion import CompletionItem

    from hfcount.cli.commands import COMMANDS

    first = not context.params.get("models")
    names = [name for name in COMMANDS if first and name.startswith(incomplete)]
    files = some_file(context, _param, incomplete)
    return [*(CompletionItem(name, help=COMMANDS[name].purpose) for name in names), *files]


def completion(context: click.Context, _option: click.Parameter, shell: str | None) -> None:
    """Installs completion for a shell instead of a run."""
    if shell is None or context.resilient_parsing:
        return
    from hfcount.cli.completion import install

    install(context.command, shell)
    context.exit()


_FORMAT = "hfcount.format"


def format_named(context: click.Context, _option: click.Parameter, name: str) -> None:
    """Notes the format of --format; the last of the options that choose one decides."""
    if context.get_parameter_source("style") is not ParameterSource.DEFAULT:
        from hfcount.cli.output_files import check_installed

        name = ALIASES.get(name, name)
        check_installed(name)
        context.meta[_FORMAT] = name


def format_flag(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Notes the format that a flag stands for."""
    if wanted:
        context.meta[_FORMAT] = {"as_json": "json", "quiet": "brief", "details": "detailed"}[option.name or ""]


def chosen_format(context: click.Context) -> str | None:
    """The format that was chosen; None if none was."""
    name: str | None = context.meta.get(_FORMAT)
    return name


_JSON = "hfcount.json"


def json_named(context: click.Context, _option: click.Parameter, name: str | None) -> None:
    """Notes that --format asks for JSON, as `json_flag` does."""
    context.meta[_JSON] = name == "json"


def json_flag(context: click.Context, _option: click.Parameter, wanted: bool) -> bool:
    """Whether JSON is asked for, by --json or --format json."""
    return wanted or bool(context.meta.get(_JSON))


class NamingRules(click.Option):
    """An option whose help names the informational rules, which are looked up only for help."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help."""
        from hfcount.verifier.rules import RULES

        *some, last = (rule.code for rule in RULES.values() if rule.informational)
        self.help = (self.help or "").format(informational=f"{', '.join(some)} and {last}")
        return super().get_help_record(ctx)


def codes(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> frozenset[str]:
    """Codes of rules given by code or name."""
    if not values:
        return frozenset()
    from hfcount.verifier.rules import lookup

    rules = [(value, lookup(value)) for value in values]
    for value, rule in rules:
        if rule is None:
            raise click.BadParameter(f"there is no finding {value}. `hfcount rules` lists them.")
    return frozenset(rule.code for _, rule in rules if rule)


def loaders(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> "Sequence[Loader]":
    """Loaders by library, or by library and version."""
    if not values:
        return ()
    from hfcount.verifier.loaders.catalogue import loader

    try:
        return tuple(dict.fromkeys(map(loader, values)))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def loader_named(context: click.Context, option: click.Parameter, value: str | None) -> "Loader | None":
    """A loader by library, or by library and version."""
    return next(iter(loaders(context, option, [value] if value else [])), None)


def some_loader(_context: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Loaders with this prefix."""
    from hfcount.verifier.loaders.catalogue import LIBRARIES
    from hfcount.verifier.loaders.catalogue import loaders as known

    labels = [*LIBRARIES, *(loader.label for loader in known())]
    return [label for label in labels if label.startswith(incomplete.lower())]


def settings(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> "Sequence[Changes]":
    """What-ifs of KEY=VALUE pairs."""
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
    """What-ifs of quantisation schemes."""
    if not values:
        return ()
    from hfcount.mapper.quantization_presets import PRESETS
    from hfcount.mapper.whatif import QUANTIZATION

    names = [name.strip().lower() for value in values for name in value.split(",")]
    for name in names:
        if name not in PRESETS:
            from hfcount.cli.foreign_options import scheme  # only where one is

            problem = scheme(name) or f"there is no preset {name or 'without a name'}."
            raise click.BadParameter(f"{problem} Presets are {', '.join(PRESETS)}.")
    return [{QUANTIZATION: dict(PRESETS[name])} for name in dict.fromkeys(names)]


def _needs(module: str, extra: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        from hfcount.version import missing

        raise click.BadParameter(missing(f"this (extra {extra})", module))


def depth(_context: click.Context, _option: click.Parameter, name: str) -> str:
    """The depth, after a check for its requirements."""
    if name == "data":
        _needs("numpy", "data")
    return name


def installed(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """The name of a library, which must be installed."""
    if name:
        _needs(name, name)
        _needs("torch", name)
    return name


if TYPE_CHECKING:
    Number = click.ParamType[int]
else:
    Number = click.ParamType  # which older versions cannot subscript


class _Tokens(Number):
    """A whole number, such as 32768, 32,768 or 32k (32 · 1,024)."""

    name = "tokens"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> int:
        if type(value) is int:  # the default
            return value
        text = str(value).lower().replace(",", "").replace("_", "")
        match = re.fullmatch(r"(\d{1,13})([km]?)", text)
        number = int(match[1]) * {"": 1, "k": 2**10, "m": 2**20}[match[2]] if match else 0
        if not 1 <= number <= 2**40:
            self.fail(f"{value} is not a whole number from 1 to 2^40, such as 32768 or 32k.", param, context)
        return number


COUNT = _Tokens()
"""Tokens or sequences."""


def listed(_context: click.Context | None, _option: click.Parameter | None, paths: Sequence[str]) -> list[str]:
    """Models listed in files, one a line; `-` is standard input, `#` begins a comment."""
    models = []
    for path in paths:
        try:
            with click.open_file(path, encoding="utf-8") as lines:
                models += [model for line in lines if (model := line.partition("#")[0].strip())]
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise click.BadParameter(f"{path} cannot be read: {why}.") from None
    if paths and not models:
        names = ", ".join("standard input" if path == "-" else path for path in paths)
        raise click.BadParameter(f"{names} contains no model name.")
    return models
