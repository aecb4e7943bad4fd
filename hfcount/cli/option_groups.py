"""Groups options under titles in --help."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from hfcount.cli.output import WrongUsage

_LAST = "Other"

Decorator = Callable[[Any], Any]


def group(title: str, *options: Decorator) -> Decorator:
    """Adds options to a command under a title in --help."""

    def add(function: Any) -> Any:
        before = len(getattr(function, "__click_params__", ()))
        for option in reversed(options):
            function = option(function)
        for param in function.__click_params__[before:]:
            vars(param)["group"] = title
        return function

    return add


def grouped(groups: Mapping[str, Sequence[Decorator]]) -> Decorator:
    """Adds groups of options, by title."""

    def add(function: Any) -> Any:
        for title, options in reversed([*groups.items()]):
            function = group(title, *options)(function)
        return function

    return add


class AnsweringCommand(click.Command):
    """A command that answers an option which it does not have with its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the words; a folder that is given to --recursive is a MODEL."""
        split = (word.split("=", 1) if word.startswith("--recursive=") else [word] for word in args)
        try:
            return super().parse_args(ctx, [part for parts in split for part in parts])
        except click.NoSuchOption as error:
            from hfcount.cli.foreign_options import unknown  # only where one is

            raise click.UsageError(unknown(error.option_name, self, ctx), ctx) from None
        except click.BadOptionUsage as error:
            option = next((param for param in self.get_params(ctx) if error.option_name in param.opts), None)
            if option is None or "argument" not in error.message:
                raise
            usage = f"{error.option_name} {option.make_metavar(ctx)}"
            raise click.UsageError(f"{error.option_name} needs a value: {usage}.", ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; arguments that do not go together are shown as click shows wrong usage."""
        try:
            return super().invoke(ctx)
        except WrongUsage as error:
            raise click.UsageError(str(error), ctx) from None


class GroupedCommand(AnsweringCommand):
    """A command that shows its options in groups, in order of declaration."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options under the titles of their groups."""
        groups = dict[str, list[tuple[str, str]]]()
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)) is not None:
                groups.setdefault(vars(param).get("group", _LAST), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)
