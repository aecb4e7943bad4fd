"""Threads that count values: one a core, each with buffers of its own, ended by the first failure and by Ctrl-C."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Event, local
from typing import TypeVar

from hfcount.data.chunks import Bytes, Chunks
from hfcount.data.tally import Tally

_PAUSE = 0.2  # seconds after which Ctrl-C is seen

Result = TypeVar("Result")
Done = Callable[[int], None]
"""Called with the number of bytes that were read, by any thread."""


class Stopped(Exception):
    """Another thread has failed, or the run was interrupted."""


@dataclass(frozen=True, slots=True)
class Worker:
    """What a thread counts with.

    Args:
        done: called after each chunk.
        stop: set when nobody waits for the result any more.
    """

    done: Done
    stop: Event
    chunks: Chunks = field(default_factory=Chunks)

    def count(self, dtype: str, raw: Bytes) -> Tally:
        """The figures of a chunk.

        Raises:
            Stopped: the run has ended.
        """
        if self.stop.is_set():
            raise Stopped
        found = self.chunks.count(dtype, raw)
        self.done(raw.size)
        return found


def run(works: Sequence[Callable[[Worker], Result]], done: Done) -> Iterator[Result]:
    """What comes of each piece of work, in order; raises what the first that fails raises."""
    stop, own = Event(), local()

    def worked(work: Callable[[Worker], Result]) -> Result:
        if not hasattr(own, "worker"):
            own.worker = Worker(done, stop)
        return work(own.worker)

    with ThreadPoolExecutor(_cores(), "hfcount-data") as pool:
        try:
            futures = [pool.submit(worked, work) for work in works]
            _wait(futures)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    yield from (future.result() for future in futures)


def _wait(futures: Sequence[Future[Result]]) -> None:
    left = set(futures)
    while left:
        ended, left = wait(left, _PAUSE, FIRST_EXCEPTION)
        for one in ended:
            one.result()


def _cores() -> int:
    """The cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
