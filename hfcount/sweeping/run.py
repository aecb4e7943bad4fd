"""Runs `hfcount.sweep`: connects sources, executor and output folder."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from hfcount.checkpoints.settings import ProjectSettings, project_of
from hfcount.errors import HfcountError, SettingsError, SweepError
from hfcount.sweeping import sources
from hfcount.sweeping.bases import of_folder
from hfcount.sweeping.engine import Engine
from hfcount.sweeping.events import Begun, Ended, Kept, Passed, Waits, Watcher, unwatched
from hfcount.sweeping.log import Log
from hfcount.sweeping.output_folder import check
from hfcount.sweeping.pools import ExecutorSource, Pool, processes
from hfcount.sweeping.quota import Quota
from hfcount.sweeping.retry import RetryRules, reasons
from hfcount.sweeping.rows import Task, skipped, unread
from hfcount.sweeping.shard import Shard, shard_of
from hfcount.sweeping.sources_spec import Collection, Listing
from hfcount.sweeping.store import Store

DEADLINE = 300.0
"""Seconds for one checkpoint."""

_UNREACHED = 50  # checkpoints in a row

Source = str | os.PathLike[str] | Listing | Collection | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a sweep: rows written, rows kept from before, and requests to the Hub.

    `verdicts` counts all checkpoints in the folder; `digest` covers all rows, in any order.
    """

    written: int
    before: int
    requests: int
    verdicts: Mapping[str, int]
    digest: str


@dataclass(frozen=True, slots=True)
class SweepSettings:
    """Settings of a sweep: `deadline` in seconds for each checkpoint, and an optional watcher.

    `bases`: whether to compare weight files with those of named bases; `project`: the settings files, if they are read.
    """

    deadline: float
    again: RetryRules
    shard: Shard | None = None
    watcher: Watcher | None = None
    bases: bool = False
    project: ProjectSettings | None = None


def sweep(
    source: Source,
    out: str | os.PathLike[str],
    *,
    executor: ExecutorSource | None = None,
    workers: int | None = None,
    deadline: float = DEADLINE,
    retry: bool | str | Several[str] = False,
    again: bool = False,
    shard: str | tuple[int, int] | None = None,
    log: str | os.PathLike[str] | None = None,
    bases: bool = False,
    settings: str | os.PathLike[str] | None = None,
) -> Swept:
    """Verifies many checkpoints, and keeps one row of each in a folder; what has a row is not looked at again.

    Args:
        source: a folder, for every checkpoint in it, recorded or not; models by name, as `verify` takes them; or what
            the Hub has: `Listing(author="Qwen")`, `Collection("org/name-id")`.
        out: the folder of the rows, which is made if need be; one sweep at a time writes to it, or one of each shard.
        executor: any `concurrent.futures.Executor`, such as loky's or Dask's, or a function that makes one, so
            that it can be made anew when a worker dies; processes of its own if None.
        workers: how many there are; as many as processors if None and the executor does not say.
        deadline: seconds for one checkpoint.
        retry: whether those are looked at again that could not be read or killed their worker; or those whose `reason`
            it is, one or several.
        again: whether those are looked at again whose row is of another version of hfcount.
        shard: `"2/5"` or `(2, 5)` for the second of five shares, which are disjoint and together all of the source.
        log: a file to which a JSON object is appended for everything that happens.
        bases: whether weight files are compared with those of the bases that checkpoints name, by their checksums: the
            Hub is asked once for each base, and once for each repo whose own checksums are not known.
        settings: a settings file that holds for all, or `auto` for the nearest of each checkpoint, as the command takes
            it; none by default.

    Raises:
        SettingsError: the settings file, or that of the current folder, cannot be read or is wrong.
        SweepError: the folder, the workers or the listing cannot be used, as where the folder holds a model; another
            sweep is writing to the folder.
        FetchError: a setting of the environment that names the Hub cannot be read.
        ValueError: a deadline or a number of workers that is not above 0; a shard or a reason that there is not.
    """
    if deadline <= 0 or (workers is not None and workers < 1):
        raise ValueError("the deadline and the number of workers must be above 0.")
    share = shard_of(shard) if isinstance(shard, str) else Shard(*shard) if shard else None
    what = RetryRules(reasons(retry, Path(out)), again)
    with ExitStack() as stack:
        watcher = stack.enter_context(closing(Log(Path(log)))) if log is not None else None
        course = SweepSettings(deadline, what, share, watcher, bases, project_of(settings))
        return many([source], out, executor, workers, course)


def many(
    given: Sequence[Source],
    out: str | os.PathLike[str],
    executor: ExecutorSource | None,
    workers: int | None,
    course: SweepSettings,
) -> Swept:
    """Sweeps several sources."""
    count, watcher = (
        workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1,
        course.watcher or unwatched,
    )
    check(Path(out))
    if course.project is not None:
        course.project.check()
    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(Path(out), course.again, course.shard)))
        asked = _TaskSource(store, course.shard, watcher, course.bases)
        stack.callback(asked.close)
        total = _total(given, course.shard) if course.watcher else None
        shard = str(course.shard) if course.shard else None
        watcher(Begun(os.fspath(out), shard, count, store.before, total))
        try:
            _run(store, asked, given, partial(Pool, executor or processes(count), count), course, watcher)
        except BaseException as error:
            kind = error.kind if isinstance(error, HfcountError) else type(error).__name__
            watcher(Ended(store.written, store.before, asked.quota.spent, kind))
            raise
        from hfcount.sweeping.summary_pages import described  # and the reporters, which workers do without

        summary = described(store.out)
        store.tidy()  # if the drivers of other shards have ended meanwhile
        watcher(Ended(store.written, store.before, asked.quota.spent))
        return Swept(store.written, store.before, asked.quota.spent, summary.verdicts, summary.digest)


def _run(
    store: Store,
    asked: "_TaskSource",
    given: Iterable[Source],
    start: Callable[[], Pool],
    course: SweepSettings,
    watcher: Watcher,
) -> None:
    """Inspects all checkpoints without a row and stores their rows."""
    keep = _RowKeeper(store, watcher)
    tasks = _fresh(store, keep.add, chain.from_iterable(map(asked.tasks, given)), watcher)
    if course.project is not None:
        tasks = _with_settings(course.project, keep.add, tasks)
    first = next(tasks, None)
    if first is not None:  # without tasks no workers are needed
        pool = start()
        try:
            Engine(pool, course.deadline, asked.quota, keep.add, watcher).run(chain([first], tasks))
        except BaseException:
            pool.end()
            raise
        pool.close()
    keep.finish()
    asked.finish()
    store.tidy()


def _total(given: Iterable[Source], shard: Shard | None) -> int | None:
    """The number of checkpoints, or an upper bound; None if only a listing shows it."""
    total = 0
    for source in given:
        if isinstance(source, str | os.PathLike):
            tasks = sources.tree(Path(source))
        elif isinstance(source, Sequence):
            tasks = sources.models(source)
        elif isinstance(source, Listing) and source.limit is not None:
            total += source.limit if shard is None else -(-source.limit // shard.of)
            continue
        else:
            return None
        total += sum(1 for task in tasks if shard is None or shard.has(task.model))
    return total


class _TaskSource:
    """Makes tasks of sources, and opens the Hub if one needs it."""

    def __init__(self, store: Store, shard: Shard | None, watcher: Watcher, bases: bool) -> None:
        self.quota = Quota(lambda kind, seconds: watcher(Waits(kind, seconds)))
        self._store, self._shard, self._bases = store, shard, bases
        self._hub: sources.Online | None = None

    def tasks(self, source: Source) -> Iterator[Task]:
        """The tasks of a source in this shard."""
        if isinstance(source, Listing | Collection):
            return self._online().tasks(source)
        tree = isinstance(source, str | os.PathLike)
        tasks = sources.tree(Path(source)) if isinstance(source, str | os.PathLike) else sources.models(source)
        ours = filter(self._ours, tasks)
        if self._bases:
            return self._online().named(map(self._with_bases, ours))
        return ours if tree else self._named(ours)

    def finish(self) -> None:
        """Called when all tasks have a row."""
        if self._hub is not None:
            self._hub.finish()

    def close(self) -> None:
        """Ends all connections."""
        if self._hub is not None:
            self._hub.close()

    def _with_bases(self, task: Task) -> Task:
        """The task with the bases that a local checkpoint names, if it will be inspected."""
        if task.request is None or not sources.is_local(task) or not self._wanted(task):
            return task
        named = of_folder(task.request)
        return replace(task, bases=tuple(base for base in named if base.model != task.model))

    def _ours(self, task: Task) -> bool:
        return self._shard is None or self._shard.has(task.model)

    def _wanted(self, task: Task) -> bool:
        return self._ours(task) and not self._store.has(task.model, task.revision)

    def _named(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """Local tasks unchanged; from the first repo on, tasks resolved by the Hub."""
        for task in tasks:
            if sources.is_local(task):
                yield task
            else:
                yield from self._online().named(chain([task], tasks))

    def _online(self) -> "sources.Online":
        if self._hub is None:
            from hfcount.sweeping.listing import Hub  # which brings in an HTTP client

            self._hub = Hub(self.quota, self._store.state, self._wanted, self._bases)
        return self._hub


class _RowKeeper:
    """Stores rows, but ends the sweep after many consecutive NoNetwork rows."""

    def __init__(self, store: Store, watcher: Watcher) -> None:
        self._store, self._watcher = store, watcher
        self._unreached: list[bytes] = []

    def add(self, lines: Sequence[bytes]) -> None:
        """Stores rows; NoNetwork rows wait until another row arrives."""
        reached = [line for line in lines if b'"reason":"NoNetwork"' not in line]
        self._unreached += [line for line in lines if b'"reason":"NoNetwork"' in line]
        if reached:
            self.finish()
            self._put(reached)
        elif len(self._unreached) >= _UNREACHED:
            raise SweepError(
                f"the Hub could not be reached {_UNREACHED} times in a row. What was read before is kept: run it again"
                " later."
            )

    def finish(self) -> None:
        """Stores the waiting rows."""
        self._put(self._unreached)
        self._unreached = []

    def _put(self, lines: Sequence[bytes]) -> None:
        self._store.add(lines)
        self._watcher(Kept(lines))


def _fresh(
    store: Store, keep: Callable[[Sequence[bytes]], None], tasks: Iterable[Task], watcher: Watcher
) -> Iterator[Task]:
    """Tasks without a row; skipped ones get theirs here."""
    for task in tasks:
        if not store.claim(task.model, task.revision):
            watcher(Passed())
        elif task.request is None:
            keep([skipped(task)])
        else:
            yield task


def _with_settings(
    project: ProjectSettings, keep: Callable[[Sequence[bytes]], None], tasks: Iterable[Task]
) -> Iterator[Task]:
    """Tasks with what their settings files set; those whose file is wrong get their row here."""
    for task in tasks:
        try:
            settings = project.chosen(task.request) if task.request is not None else None
        except SettingsError as error:
            keep([unread(task, error.kind, str(error))])
            continue
        if settings is None or task.request is None:
            yield task
        else:
            yield replace(task, request=settings.applied_to_request(task.request), settings=settings)
