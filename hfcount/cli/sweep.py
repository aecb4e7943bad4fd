"""`hfcount sweep`: many checkpoints, one row each, in a folder that the next run goes on with."""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
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
    from concurrent.futures import Executor

    from hfcount.sweeping.again import Again
    from hfcount.sweeping.events import Event, Watcher
    from hfcount.sweeping.run import Course, Source
    from hfcount.sweeping.shard import Shard

    _Workers = tuple[Executor | None, int | None]

_EPILOG = """
\b
Examples:
  hfcount sweep OUT --author Qwen              all models of an organisation
  hfcount sweep OUT --list models.txt          those that a file names
  hfcount sweep OUT --tree ./checkpoints       local folders, or recorded ones
  hfcount sweep OUT --hub --library transformers --sort downloads --limit 1000
  hfcount sweep OUT --hub --dry-run            what it would take
  hfcount sweep OUT --list models.txt --shard 2/5   one of five shares
  hfcount sweep OUT --tree ./checkpoints --retry TimedOut   these once more
  hfcount sweep OUT --summary                  what was found

\b
To resume a sweep that was stopped, run the same command again. Exit codes: 0
done, 1 with --check, 2 wrong usage, 3 the sweep could not go on.
"""

_ALL = "all"


def _shard(_context: click.Context, _option: click.Parameter, text: str | None) -> "Shard | None":
    from hfcount.sweeping.shard import shard_of

    try:
        return shard_of(text) if text is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--list",
    "listed",
    multiple=True,
    metavar="FILE",
    callback=read.listed,
    help="Models from a file, one per line; - is standard input.",
)
@click.option("--author", "authors", multiple=True, metavar="NAME", help="All models of a user or an organisation.")
@click.option("--collection", "collections", multiple=True, metavar="SLUG", help="The models of a collection.")
@click.option("--hub", is_flag=True, help="All models on the Hub, filtered by the next four options.")
@click.option("--library", metavar="NAME", help="With --hub or --author: of this library, such as transformers.")
@click.option("--task", metavar="NAME", help="With --hub or --author: for this task, such as text-generation.")
@click.option("--sort", metavar="KEY", help="With --hub or --author: from the most downloads, likes or trendingScore.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="With --hub or --author: at most this many.")
@click.option(
    "--tree",
    "trees",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Every checkpoint below a folder, including recorded ones (--save).",
)
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Number of processes (default: one per processor)."
)
@click.option(
    "--engine",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    show_default=True,
    help="Run in processes of this machine, or on Dask (extra dask).",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="With --engine dask: address of its scheduler (default: this machine)."
)
@click.option(
    "--deadline",
    "--timeout",
    type=click.FloatRange(0, LONGEST, min_open=True),
    default=300,
    show_default=True,
    metavar="S",
    help="Time limit in seconds for each checkpoint.",
)
@click.option(
    "--retry",
    is_flag=False,
    flag_value=_ALL,
    multiple=True,
    metavar="[REASON]",
    help="Look again at rows with this reason; without REASON, at those not read or that ended their worker.",
)
@click.option("--again", is_flag=True, help="Look again at rows written by another version of hfcount.")
@click.option(
    "--shard",
    metavar="I/N",
    callback=_shard,
    help="Do only share I of N, such as 2/5, to split a sweep over several accounts.",
)
@click.option(
    "--log",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Append events to a file, one JSON object per line.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print progress to standard error.")
@click.option("--dry-run", is_flag=True, help="Print how many requests, hours and bytes the sweep would take.")
@click.option(
    "--tier", type=click.Choice(list(TIERS)), help="With --dry-run: the account's rate limits (default: all tiers)."
)
@click.option("--summary", is_flag=True, help="Print a summary of the rows, and write it to OUT as pages and charts.")
@click.option(
    "--check", is_flag=True, help="Exit with 1 if a checkpoint in OUT does not match its config, and name it."
)
@click.option("--debug", is_flag=True, help="Show the traceback if hfcount crashes.")
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
    retry: tuple[str, ...],
    again: bool,
    shard: "Shard | None",
    log: Path | None,
    quiet: bool,
    dry_run: bool,
    tier: str | None,
    summary: bool,
    check: bool,
    debug: bool,
) -> int:
    """Verify many checkpoints and keep one row per checkpoint in the folder OUT.

    Rows are Parquet files if pyarrow is installed (extra sweep), else JSON Lines. A commit that already has a row is
    not read again. OUT is a dataset that can be uploaded to the Hub as it is.
    """
    del debug  # whoever reports a crash looks for it
    listings = (hub, authors, library, task, sort, limit)
    wanted: list[Source] = [*trees, *(Collection(slug) for slug in collections), *_listings(*listings)]
    if names := [*models, *listed]:
        wanted.append(names)
    if scheduler and engine != "dask":
        raise click.UsageError("--scheduler goes with --engine dask.")
    if tier and not dry_run:
        raise click.UsageError("--tier goes with --dry-run.")
    what = _again(retry, again, out)
    if not wanted and not (summary or check):
        raise click.UsageError("Name what to look at: MODEL, --list, --author, --collection, --hub or --tree.")
    if dry_run:
        from hfcount.sweeping.plan import planned

        for line in planned(wanted, tier, shard):
            click.echo(line)
        return 0
    if wanted:
        from hfcount.sweeping import run

        with ExitStack() as stack:
            executor, count = stack.enter_context(_engine(engine, scheduler, workers))
            watcher = stack.enter_context(_watcher(log, quiet))
            _sweep(wanted, out, (executor, count), run.Course(deadline, what, shard, watcher))
    return _told(out, summary, check)


def _listings(
    hub: bool,
    authors: Sequence[str],
    library: str | None,
    task: str | None,
    sort: str | None,
    limit: int | None,
) -> list[Listing]:
    """What the Hub is asked to list."""
    if (library or task or sort or limit) and not (hub or authors):
        raise click.UsageError("--library, --task, --sort and --limit go with --hub or --author.")
    if hub and authors:
        raise click.UsageError("--hub has all authors: leave out --author.")
    return [Listing(name, library, task, sort, limit) for name in ([None] if hub else authors)]


def _again(retry: Sequence[str], again: bool, out: Path) -> "Again":
    """What is looked at again."""
    from hfcount.sweeping.again import Again, reasons

    try:
        return Again(reasons(_ALL in retry or retry, out), again)
    except ValueError as error:
        raise click.UsageError(f"--retry: {error}") from None


@contextmanager
def _engine(name: str, scheduler: str | None, workers: int | None) -> "Iterator[_Workers]":
    """The executor that an engine is, None for processes of its own, and how many workers it has."""
    if name != "dask":
        yield None, workers
        return
    from hfcount.sweeping.dask import cluster

    with cluster(scheduler, workers) as (executor, count):
        yield executor, count


@contextmanager
def _watcher(log: Path | None, quiet: bool) -> "Iterator[Watcher | None]":
    """What is told of all that happens, if anything is."""
    from hfcount.sweeping.log import Log
    from hfcount.sweeping.progress import Progress

    with ExitStack() as stack:
        watchers: list[Watcher] = [] if quiet else [Progress(sys.stderr)]
        if log:
            watchers.append(stack.enter_context(closing(Log(log))))

        def watch(event: "Event") -> None:
            for one in watchers:
                one(event)

        yield watch if watchers else None


def _sweep(
    wanted: "Sequence[Source]", out: Path, engine: "tuple[Executor | None, int | None]", course: "Course"
) -> None:
    from hfcount.sweeping.run import many

    gc.enable()  # a run of hours makes garbage
    done = many(wanted, out, *engine, course)
    asked = f", {plural(done.requests, 'request')} to the Hub" if done.requests else ""
    click.echo(f"{out}: {plural(done.written, 'row')} written, {done.before:,} there before{asked}")
    counts = sorted(done.verdicts.items(), key=lambda one: (-one[1], one[0]))
    click.echo(f"in all: {', '.join(f'{count:,} {verdict}' for verdict, count in counts) or 'no rows'}")


def _told(out: Path, summary: bool, check: bool) -> int:
    """Prints what the rows say; the exit code."""
    if summary:
        from hfcount.sweeping.card import write

        click.echo(write(out, written))
    if not check:
        return 0
    from hfcount.sweeping.summary import contradicted

    wrong = [*contradicted(out)]
    for line in wrong:
        click.echo(line)
    return 1 if wrong else 0
