"""The options of `hfcount sweep`, in the groups in which --help shows them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hfcount.cli import option_types as read
from hfcount.cli import shared_options
from hfcount.cli.option_groups import Decorator
from hfcount.sweeping.tiers import TIERS

if TYPE_CHECKING:
    from hfcount.sweeping.shard import Shard

ALL = "all"
"""The value of --retry without a reason."""


def _shard(_context: click.Context, _option: click.Parameter, text: str | None) -> "Shard | None":
    from hfcount.sweeping.shard import shard_of

    try:
        return shard_of(text) if text is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


OPTIONS: Mapping[str, Sequence[Decorator]] = {
    "What to verify": (
        click.option(
            "--list",
            "listed",
            multiple=True,
            metavar="FILE",
            callback=read.listed,
            help="Models from a file, one per line; - is standard input.",
        ),
        click.option(
            "--tree",
            "trees",
            type=click.Path(path_type=Path, exists=True, file_okay=False),
            multiple=True,
            metavar="DIR",
            help="Every checkpoint below a folder, including recorded ones (--save).",
        ),
        click.option(
            "--author", "authors", multiple=True, metavar="NAME", help="All models of a user or an organisation."
        ),
        click.option("--collection", "collections", multiple=True, metavar="SLUG", help="The models of a collection."),
        click.option("--hub", is_flag=True, help="All models on the Hub, filtered by the next four options."),
        click.option(
            "--library", metavar="NAME", help="With --hub or --author: of this library, such as transformers."
        ),
        click.option("--task", metavar="NAME", help="With --hub or --author: for this task, such as text-generation."),
        click.option(
            "--sort", metavar="KEY", help="With --hub or --author: most downloads, likes or trendingScore first."
        ),
        click.option("--limit", type=click.IntRange(1), metavar="N", help="With --hub or --author: at most this many."),
        click.option(
            "--shard",
            metavar="I/N",
            callback=_shard,
            help="Do only share I of N, such as 2/5, to split a sweep over several accounts.",
        ),
        click.option(
            "--bases",
            is_flag=True,
            help="Compare checksums of weight files with those of the base model that a checkpoint names.",
        ),
    ),
    "Existing rows": (
        click.option(
            "--retry",
            is_flag=False,
            flag_value=ALL,
            multiple=True,
            metavar="[REASON]",
            help="Verify rows with this reason again; without REASON, those that could not be read or crashed.",
        ),
        click.option("--again", is_flag=True, help="Verify rows again that another version of hfcount wrote."),
        click.option(
            "--summary", is_flag=True, help="Print a summary of the rows, and write it to OUT as pages and charts."
        ),
        click.option(
            "--check", is_flag=True, help="Exit with 1 if a checkpoint in OUT does not match its config, and name it."
        ),
    ),
    "How to run": (
        click.option(
            "--workers", type=click.IntRange(1), metavar="N", help="Number of processes (default: one per processor)."
        ),
        click.option(
            "--engine",
            type=click.Choice(["processes", "dask"]),
            default="processes",
            show_default=True,
            help="Run in processes of this machine, or on Dask (extra dask).",
        ),
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="With --engine dask: address of its scheduler (default: this machine).",
        ),
        shared_options.timeout("--deadline", "--timeout", help="Time limit in seconds for each checkpoint."),
        click.option("--dry-run", is_flag=True, help="Print how many requests, hours and bytes the sweep would take."),
        click.option(
            "--tier",
            type=click.Choice(list(TIERS)),
            help="With --dry-run: the account's rate limits (default: all tiers).",
        ),
    ),
    "Output": (
        click.option(
            "--out",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="OUT",
            help="The folder of the rows; the first argument is then a MODEL.",
        ),
        click.option(
            "--log",
            type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
            metavar="FILE",
            help="Append events to a file, one JSON object per line; - is standard output.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Do not print progress to standard error."),
        shared_options.json_instead("Print what was done as JSON, an object a line."),
    ),
    "Other": (*shared_options.SETTINGS, shared_options.DEBUG),
}
