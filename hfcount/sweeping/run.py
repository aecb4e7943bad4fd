"""`hfcount.sweep`: a source, a folder, an executor."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hfcount.errors import SweepError
from hfcount.sweeping import sources
from hfcount.sweeping.asked import Collection, Listing
from hfcount.sweeping.engine import Engine
from hfcount.sweeping.pools import Given, Pool, processes
from hfcount.sweeping.quota import Quota
from hfcount.sweeping.rows import Task, skipped
from hfcount.sweeping.store import Store
from hfcount.version import __version__

DEADLINE = 300.0
"""Seconds for one checkpoint."""

_UNREACHED = 50  # checkpoints in a row

Source = str | os.PathLike[str] | Listing | Collection | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did: the rows that it wrote, those that were there before, and the requests it made of the Hub.

    `verdicts` counts the checkpoints in the folder, and `digest` is of all rows, whatever their order.
    """

    written: int
    before: int
    requests: int
    verdicts: Mapping[str, int]
    digest: str


def sweep(
    source: Source,
    out: str | os.PathLike[str],
    *,
    executor: Given | None = None,
    workers: int | None = None,
    deadline: float = DEADLINE,
    retry: bool = False,
) -> Swept:
    """Verifies many checkpoints, and keeps one row of each in a folder; what has a row is not looked at again.

    Args:
        source: a folder, for every checkpoint in it, recorded or not; models by name, as `verify` takes them; or what
            the Hub has: `Listing(author="Qwen")`, `Collection("org/name-id")`.
        out: the folder of the rows, which is made if need be; one sweep at a time writes to it.
        executor: any `concurrent.futures.Executor`, such as loky's or Dask's, or a function that makes one, so
            that it can be made anew when a worker dies; processes of its own if None.
        workers: how many there are; as many as processors if None and the executor does not say.
        deadline: seconds for one checkpoint.
        retry: whether those are looked at again that could not be read or killed their worker.

    Raises:
        SweepError: the folder, the workers or the listing cannot be used; another sweep is writing to the folder.
        FetchError: a setting of the environment that names the Hub cannot be read.
        ValueError: a deadline or a number of workers that is not above 0.
    """
    if deadline <= 0 or (workers is not None and workers < 1):
        raise ValueError("the deadline and the number of workers must be above 0.")
    return many([source], out, executor, workers, deadline, retry)


def many(
    given: Iterable[Source],
    out: str | os.PathLike[str],
    executor: Given | None,
    workers: int | None,
    deadline: float,
    retry: bool,
) -> Swept:
    """As `sweep`, of several sources."""
    count = workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(Path(out), retry)))
        asked = _Asked(store)
        stack.callback(asked.close)
        keep = _Keep(store)
        tasks = _fresh(store, keep.add, chain.from_iterable(map(asked.tasks, given)))
        first = next(tasks, None)
        if first is not None:  # else workers would start in vain
            pool = Pool(executor or processes(count), count)
            try:
                Engine(pool, deadline, asked.quota, keep.add).run(chain([first], tasks))
            except BaseException:
                pool.end()
                raise
            pool.close()
        keep.finish()
        asked.finish()
        store.seal()
        from hfcount.sweeping.card import described  # and the reporters, which workers do without

        found = described(store.out)
        return Swept(store.written, store.before, asked.quota.spent, found.verdicts, found.digest)


class _Asked:
    """The tasks of sources, and the Hub where one of them needs it."""

    def __init__(self, store: Store) -> None:
        self.quota, self._store = Quota(), store
        self._hub: sources.Online | None = None

    def tasks(self, source: Source) -> Iterator[Task]:
        """The tasks of one source."""
        if isinstance(source, str | os.PathLike):
            return sources.tree(Path(source))
        if isinstance(source, Listing | Collection):
            return self._online().tasks(source)
        return self._named(sources.models(source))

    def finish(self) -> None:
        """All of them have a row."""
        if self._hub is not None:
            self._hub.finish()

    def close(self) -> None:
        """Ends all connections."""
        if self._hub is not None:
            self._hub.close()

    def _named(self, tasks: Iterator[Task]) -> Iterator[Task]:
        """Local models as they are, and from the first repo on what the Hub says of it."""
        for task in tasks:
            if sources.is_local(task):
                yield task
            else:
                yield from self._online().named(chain([task], tasks))

    def _online(self) -> "sources.Online":
        if self._hub is None:
            from hfcount.sweeping.listing import Hub  # which brings in an HTTP client

            self._hub = Hub(self.quota, self._store.state, self._store.seen)
        return self._hub


class _Keep:
    """Keeps rows, unless many after one another say that there is no way to the Hub: then the sweep ends instead."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._unreached: list[bytes] = []

    def add(self, lines: Sequence[bytes]) -> None:
        """Keeps rows, those that could not be read when there are others."""
        reached = [line for line in lines if b'"reason":"NoNetwork"' not in line]
        self._unreached += [line for line in lines if b'"reason":"NoNetwork"' in line]
        if reached:
            self.finish()
            self._store.add(reached)
        elif len(self._unreached) >= _UNREACHED:
            raise SweepError(
                f"the Hub could not be reached {_UNREACHED} times in a row. What was read before is kept: run it again"
                " later."
            )

    def finish(self) -> None:
        """Keeps what was held back."""
        self._store.add(self._unreached)
        self._unreached = []


def _fresh(store: Store, keep: Callable[[Sequence[bytes]], None], tasks: Iterable[Task]) -> Iterator[Task]:
    """Tasks that have no row yet; those that are skipped get theirs here."""
    for task in tasks:
        if not store.claim(task.model, task.revision, __version__):
            continue
        if task.request is None:
            keep([skipped(task)])
        else:
            yield task
