"""`hfcount sweep`: many checkpoints, one row each, in a folder that the next run goes on with."""

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hfcount.cli import options as read
from hfcount.cli.output import written
from hfcount.fetcher.interface import LONGEST
from hfcount.sweeping.asked import Collection, Listing
from hfcount.sweeping.tiers import TIERS
from hfcount.text import plural

if TYPE_CHECKING:
    from hfcount.sweeping.run import Source

_EPILOG = """
\b
Examples:
  hfcount sweep OUT --author Qwen              all models of an organisation
  hfcount sweep OUT --list models.txt          those that a file names
  hfcount sweep OUT --tree ./checkpoints       local folders, or recorded ones
  hfcount sweep OUT --hub --library transformers --sort downloads --limit 1000
  hfcount sweep OUT --hub --dry-run            what it would take
  hfcount sweep OUT --summary                  what was found

\b
A sweep that was stopped goes on where it was when the same command is run
again. Exit codes: 0 done, 1 with --check, 2 wrong usage, 3 it could not go on.
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--list",
    "listed",
    multiple=True,
    metavar="FILE",
    callback=read.listed,
    help="Every model that a file names, one a line; - is standard input.",
)
@click.option("--author", "authors", multiple=True, metavar="NAME", help="All models of a user or an organisation.")
@click.option("--collection", "collections", multiple=True, metavar="SLUG", help="The models of a collection.")
@click.option("--hub", is_flag=True, help="All models on the Hub, or those that the next four options leave.")
@click.option("--library", metavar="NAME", help="With --hub or --author: of this library, such as transformers.")
@click.option("--task", metavar="NAME", help="With --hub or --author: for this task, such as text-generation.")
@click.option("--sort", metavar="KEY", help="With --hub or --author: from the most downloads, likes or trendingScore.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="With --hub or --author: so many at most.")
@click.option(
    "--tree",
    "trees",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Every checkpoint in a folder, recorded ones (--save) as well.",
)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes (default: one for each processor).")
@click.option(
    "--engine",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    show_default=True,
    help="What runs the work: processes of its own, or Dask (extra dask).",
)
@click.option("--scheduler", metavar="ADDRESS", help="With --engine dask: where its scheduler is (default: here).")
@click.option(
    "--deadline",
    "--timeout",
    type=click.FloatRange(0, LONGEST, min_open=True),
    default=300,
    show_default=True,
    metavar="S",
    help="Seconds that a checkpoint may take.",
)
@click.option("--retry", is_flag=True, help="Look again at those that could not be read or ended their worker.")
@click.option("--dry-run", is_flag=True, help="Say how many requests, hours and bytes it would take.")
@click.option("--tier", type=click.Choice(list(TIERS)), help="With --dry-run: whose limits (default: all).")
@click.option("--summary", is_flag=True, help="Print what the rows say, and write it beside them as pages and charts.")
@click.option("--check", is_flag=True, help="Exit with 1 if a checkpoint in OUT contradicts its config, and name it.")
@click.option("--debug", is_flag=True, help="Show the traceback of a crash.")
def command(
    out: Path,
    models: tuple[str, ...],
    *,
    listed: list[str],
    authors: tuple[str, ...],
    collections: tuple[str, ...],
    hub: bool,
    library: str | None,
    task: str | None,
    sort: str | None,
    limit: int | None,
    trees: tuple[Path, ...],
    workers: int | None,
    engine: str,
    scheduler: str | None,
    deadline: float,
    retry: bool,
    dry_run: bool,
    tier: str | None,
    summary: bool,
    check: bool,
    debug: bool,
) -> int:
    """Verify many checkpoints, and keep one row of each in the folder OUT.

    Rows are Parquet files where pyarrow is installed (extra sweep), and JSON Lines elsewhere. A checkpoint that has a
    row, by its commit and the version of hfcount, is not looked at again; OUT is a dataset that can be uploaded as it
    is.
    """
    del debug  # whoever reports a crash looks for it
    filters = library, task, sort, limit
    wanted: list[Source] = [*trees, *(Collection(slug) for slug in collections)]
    wanted += [Listing(author, *filters) for author in authors] + ([Listing(None, *filters)] if hub else [])
    if names := [*models, *listed]:
        wanted.append(names)
    for wrong, said in (
        (any(filters) and not (hub or authors), "--library, --task, --sort and --limit go with --hub or --author."),
        (hub and authors, "--hub has all authors: leave out --author."),
        (scheduler and engine != "dask", "--scheduler goes with --engine dask."),
        (tier and not dry_run, "--tier goes with --dry-run."),
        (
            not (wanted or summary or check),
            "Name what to look at: MODEL, --list, --author, --collection, --hub or --tree.",
        ),
    ):
        if wrong:
            raise click.UsageError(said)
    if dry_run:
        from hfcount.sweeping.plan import planned

        for line in planned(wanted, tier):
            click.echo(line)
        return 0
    if wanted:
        _sweep(wanted, out, engine=engine, scheduler=scheduler, workers=workers, deadline=deadline, retry=retry)
    if summary:
        from hfcount.sweeping.card import write

        click.echo(write(out, written))
    return _check(out) if check else 0


def _check(out: Path) -> int:
    """Names the checkpoints that contradict their config; 1 if there are any."""
    from hfcount.sweeping.summary import contradicted

    lines = [*contradicted(out)]
    for line in lines:
        click.echo(line)
    return 1 if lines else 0


def _sweep(
    wanted: "Sequence[Source]",
    out: Path,
    *,
    engine: str,
    scheduler: str | None,
    workers: int | None,
    deadline: float,
    retry: bool,
) -> None:
    from hfcount.sweeping import run

    gc.enable()  # a run of hours makes garbage
    if engine == "dask":
        from hfcount.sweeping.dask import cluster

        with cluster(scheduler, workers) as (executor, count):
            done = run.many(wanted, out, executor, count, deadline, retry)
    else:
        done = run.many(wanted, out, None, workers, deadline, retry)
    asked = f", {plural(done.requests, 'request')} to the Hub" if done.requests else ""
    click.echo(f"{out}: {plural(done.written, 'row')} written, {done.before:,} there before{asked}")
    counts = sorted(done.verdicts.items(), key=lambda one: (-one[1], one[0]))
    click.echo(f"in all: {', '.join(f'{count:,} {verdict}' for verdict, count in counts) or 'no rows'}")
