"""`hfcount sweep`: many checkpoints, one row each, in a folder that the next run goes on with."""

import gc
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hfcount.cli import option_types as read
from hfcount.cli import shared_options
from hfcount.cli.option_groups import GroupedCommand, grouped
from hfcount.cli.output import written
from hfcount.cli.requests import project_settings, spelled_out
from hfcount.cli.sweep_options import ALL, OPTIONS
from hfcount.sweeping.output_folder import check as check_out
from hfcount.sweeping.sources_spec import Collection, Listing
from hfcount.text import plural, printable

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from hfcount.sweeping.events import Event, Watcher
    from hfcount.sweeping.retry import RetryRules
    from hfcount.sweeping.run import Source, SweepSettings
    from hfcount.sweeping.shard import Shard

    _Workers = tuple[Executor | None, int | None]

_EPILOG = """
\b
Examples:
  hfcount sweep OUT --author Qwen              all models of an organisation
  hfcount sweep --out OUT org/a ./my-model     these two
  hfcount sweep OUT --list models.txt          from a file
  hfcount sweep OUT --tree ./checkpoints       local folders, or recorded ones
  hfcount sweep OUT --hub --library transformers --sort downloads --limit 1000
  hfcount sweep OUT --hub --dry-run            requests, hours and bytes
  hfcount sweep OUT --list models.txt --shard 2/5   one of five shares
  hfcount sweep OUT --tree ./checkpoints --retry TimedOut   these once more
  hfcount sweep OUT --author Qwen --bases      and whose weights are their base's
  hfcount sweep OUT --summary                  what was found

\b
To resume a sweep that was stopped, run the same command again. Exit codes: 0
done, 1 with --check, 2 wrong usage, 3 the sweep could not go on.
"""


@click.command(
    cls=GroupedCommand,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("names", nargs=-1, metavar="OUT [MODEL]...", shell_complete=read.some_file)
@grouped(OPTIONS)
def command(
    names: tuple[str, ...],
    *,
    out: Path | None,
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
    bases: bool,
    log: Path | None,
    quiet: bool,
    dry_run: bool,
    tier: str | None,
    summary: bool,
    check: bool,
    as_json: bool,
    config: Path | None,
    no_config: bool,
    debug: bool,
) -> int:
    """Verify many checkpoints and keep one row per checkpoint in the folder OUT.

    Rows are Parquet files if pyarrow is installed (extra sweep), else JSON Lines. A commit that already has a row is
    not read again. OUT is a dataset that can be uploaded to the Hub as it is.
    """
    del debug  # whoever reports a crash looks for it
    out, models = _divided(names, out)
    listings = (hub, authors, library, task, sort, limit)
    wanted: list[Source] = [*trees, *(Collection(slug) for slug in collections), *_listings(*listings)]
    if named := [*models, *listed]:
        wanted.append(named)
    if scheduler and engine != "dask":
        raise click.UsageError("--scheduler goes with --engine dask.")
    if tier and not dry_run:
        raise click.UsageError("--tier goes with --dry-run.")
    project = project_settings(config, no_config, bool(shared_options.given("no_config")))
    what = _again(retry, again, out)
    if not wanted and not (summary or check):
        raise click.UsageError(
            f"Name what to verify: MODEL, --list, --author, --collection, --hub or --tree, as in `{_with_tree(out)}`."
        )
    if dry_run:
        _plan(wanted, tier, shard, bases, as_json)
        return 0
    if wanted or summary:
        check_out(out)
    if wanted:
        from hfcount.sweeping import run

        with ExitStack() as stack:
            executor, count = stack.enter_context(_engine(engine, scheduler, workers))
            watcher = stack.enter_context(_watcher(log, quiet))
            course = run.SweepSettings(deadline, what, shard, watcher, bases, project)
            _sweep(wanted, out, (executor, count), course, as_json)
    return _conclude(out, summary, check, as_json)


def _with_tree(out: Path) -> str:
    """A command that verifies a folder: OUT, if it is one that may have been meant."""
    if out.is_dir():
        return f"hfcount sweep --out rows --tree {printable(str(out))}"
    return f"hfcount sweep {printable(str(out))} --tree FOLDER"


def _plan(wanted: "Sequence[Source]", tier: str | None, shard: "Shard | None", bases: bool, as_json: bool) -> None:
    """Prints what a sweep would take."""
    from hfcount.sweeping import plan

    estimate = plan.planned(wanted, shard, bases)
    if as_json:
        click.echo(json.dumps({"schema": 1, "plan": plan.as_object(estimate, tier)}))
        return
    for line in plan.lines(estimate, tier):
        click.echo(line)


def _divided(names: Sequence[str], out: Path | None) -> tuple[Path, list[str]]:
    """OUT and the MODELs."""
    if out is not None:
        return out, spelled_out(names)
    if not names:
        raise click.UsageError("Name OUT, the folder of the rows: `hfcount sweep --out rows MODEL...`.")
    path, models = Path(names[0]), spelled_out(names[1:])
    if path.is_file():
        raise click.UsageError(f"OUT is the folder of the rows, and {path} is a file.")
    repo = re.fullmatch(r"\w[\w.-]*/[\w.-]+", names[0]) and not path.parent.exists()
    if "://" in names[0] or (repo and any(re.fullmatch(r"\w[\w.-]*/[\w.-]+", model) for model in models)):
        raise click.UsageError(
            f"The first argument is OUT, the folder of the rows. If {printable(names[0])} is a model:"
            f" `hfcount sweep --out rows {printable(names[0])} ...`."
        )
    return path, models


def _listings(
    hub: bool,
    authors: Sequence[str],
    library: str | None,
    task: str | None,
    sort: str | None,
    limit: int | None,
) -> list[Listing]:
    """The listings to request from the Hub."""
    if (library or task or sort or limit) and not (hub or authors):
        raise click.UsageError("--library, --task, --sort and --limit need --hub or --author.")
    if hub and authors:
        raise click.UsageError("--hub means all authors: leave out --author.")
    return [Listing(name, library, task, sort, limit) for name in ([None] if hub else authors)]


def _again(retry: Sequence[str], again: bool, out: Path) -> "RetryRules":
    """The rules of --retry and --again."""
    from hfcount.sweeping.retry import RetryRules, reasons

    try:
        return RetryRules(reasons(ALL in retry or retry, out), again)
    except ValueError as error:
        raise click.UsageError(f"--retry: {error}") from None


@contextmanager
def _engine(name: str, scheduler: str | None, workers: int | None) -> "Iterator[_Workers]":
    """The executor of an engine (None for local processes) and its number of workers."""
    if name != "dask":
        yield None, workers
        return
    from hfcount.sweeping.dask import cluster

    with cluster(scheduler, workers) as (executor, count):
        yield executor, count


@contextmanager
def _watcher(log: Path | None, quiet: bool) -> "Iterator[Watcher | None]":
    """A watcher that passes events to log and progress, if any."""
    from hfcount.sweeping.log import Log
    from hfcount.sweeping.progress import Progress

    with ExitStack() as stack:
        watchers: list[Watcher] = [] if quiet else [Progress(sys.stderr)]
        if log:
            watchers.append(stack.enter_context(closing(Log(log))))

        def watch(event: "Event") -> None:
            for watcher in watchers:
                watcher(event)

        yield watch if watchers else None


def _sweep(
    wanted: "Sequence[Source]",
    out: Path,
    engine: "tuple[Executor | None, int | None]",
    course: "SweepSettings",
    as_json: bool,
) -> None:
    from hfcount.sweeping.run import many

    gc.enable()  # a run of hours needs garbage collection
    done = many(wanted, out, *engine, course)
    if as_json:
        counts_ = {"written": done.written, "before": done.before, "requests": done.requests}
        click.echo(json.dumps({"schema": 1, "out": str(out), **counts_, "verdicts": dict(done.verdicts)}))
        return
    asked = f", {plural(done.requests, 'request')} to the Hub" if done.requests else ""
    click.echo(f"{out}: {plural(done.written, 'row')} written, {done.before:,} already there{asked}")
    counts = sorted(done.verdicts.items(), key=lambda item: (-item[1], item[0]))
    click.echo(f"in total: {', '.join(f'{count:,} {verdict}' for verdict, count in counts) or 'no rows'}")


def _conclude(out: Path, summary: bool, check: bool, as_json: bool) -> int:
    """Prints the summary and contradictions; returns the exit code."""
    if summary:
        from hfcount.sweeping.summary_pages import write

        page = write(out, written)
        click.echo(page, err=as_json)
    if not check:
        return 0
    from hfcount.sweeping.summary import contradicted

    wrong = [*contradicted(out)]
    if as_json:
        click.echo(json.dumps({"schema": 1, "out": str(out), "mismatches": wrong}))
    for line in () if as_json else wrong:
        click.echo(line)
    return 1 if wrong else 0
