"""Options that several commands have."""

from pathlib import Path
from typing import get_args

import click
from click.core import ParameterSource

from hfcount.cli import option_types as read
from hfcount.cli.option_groups import Decorator
from hfcount.fetcher.interface import LONGEST
from hfcount.options import AskedDepth, DerivedWith

FIXTURES = click.option(
    "--fixtures", type=click.Path(path_type=Path), metavar="DIR", help="Read DIR/<org>/<name>/ instead of the Hub."
)
OFFLINE = click.option("--offline", is_flag=True, help="Use the Hugging Face cache only.")
NO_CACHE = click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
DERIVE_WITH = click.option(
    "--derive-with",
    type=click.Choice(get_args(DerivedWith)),
    callback=read.installed,
    help="Library to ask for model types that hfcount does not know.",
)


def json_instead(help: str) -> Decorator:
    """The option --json of a command that prints text else; `--format json` is the same."""
    flag = click.option("--json", "as_json", is_flag=True, callback=read.json_flag, help=help)
    named = click.option(
        "--format",
        "style",
        type=click.Choice(["text", "json"], case_sensitive=False),
        is_eager=True,
        expose_value=False,
        hidden=True,
        callback=read.json_named,
        help="text, or json as --json prints it.",
    )
    return lambda function: named(flag(function))


JSON = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
NO_CONFIG = click.option("--no-config", is_flag=True, envvar="HFCOUNT_NO_CONFIG", help="Read no settings file.")
SETTINGS = (
    click.option(
        "--config",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE",
        shell_complete=read.some_file,
        help="The settings file, in place of the nearest hfcount.toml or pyproject.toml with [tool.hfcount].",
    ),
    NO_CONFIG,
)
DEBUG = click.option("--debug", is_flag=True, help="Show the traceback if hfcount crashes.")


def timeout(*names: str, help: str) -> Decorator:
    """A time limit in seconds, 300 by default."""
    return click.option(
        *names,
        type=click.FloatRange(0, LONGEST, min_open=True),
        default=300,
        show_default=True,
        metavar="S",
        help=help,
    )


def depth(help: str) -> Decorator:
    """The option --depth."""
    return click.option(
        "--depth",
        type=click.Choice(get_args(AskedDepth)),
        callback=read.depth,
        default="auto",
        show_default=True,
        help=help,
    )


def given(*names: str) -> list[str]:
    """Those parameters of the command that is running that its command line gives."""
    context = click.get_current_context()
    return [name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
