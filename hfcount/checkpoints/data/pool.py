"""Counts values in threads, one a core, ended by the first failure or Ctrl-C."""

import os
from collections.abc import Callable, Iterator, Sequence
from threading import Event, local
from typing import TYPE_CHECKING, TypeVar

from hfcount.checkpoints.data.byte_patterns import Patterns
from hfcount.checkpoints.data.count import CHUNK, Chunks, step
from hfcount.checkpoints.data.float_formats import FLOATS, LIKE_TEXT
from hfcount.checkpoints.data.locations import elements
from hfcount.checkpoints.data.runs import Bytes
from hfcount.checkpoints.data.tally import Tally

if TYPE_CHECKING:
    from concurrent.futures import Future

_REPORTED = 16 * CHUNK  # bytes after which progress is reported

_PAUSE = 0.2  # seconds after which Ctrl-C is seen

Result = TypeVar("Result")
Done = Callable[[int], None]
"""Called with the number of bytes that were read, by any thread."""


class Stopped(Exception):
    """Another thread has failed, or the run was interrupted."""


class Worker:
    """Counts values in one thread or process.

    Args:
        done: called with the number of bytes that were read, after some chunks.
        stopped: whether nobody waits for the result any more.
    """

    def __init__(self, done: Done, stopped: Callable[[], bool]) -> None:
        self._done, self._stopped = done, stopped
        self._chunks = Chunks()
        self._unreported = 0

    def count(self, dtype: str, size: int, fill: Callable[[Bytes], object], begin: int = 0, row: int = 0) -> Tally:
        """The figures of some values.

        Args:
            size: of all of them, in bytes.
            fill: called with buffers for the bytes of one chunk after the other.
            begin: the first of these bytes in the tensor.
            row: bytes of a row of a matrix; 0 if it is none.

        Raises:
            Stopped: the run has ended.
        """
        chunks, tally = self._chunks, Tally()
        once = step(dtype)
        run = chunks.run(dtype) if size >= CHUNK else None
        patterns = _patterns(dtype, begin, row)
        for start in range(0, size, once):
            left = size - start
            raw = chunks.bytes if left >= CHUNK == once else chunks.bytes[: min(left, once)]
            fill(raw)
            patterns.look(raw, start)
            if run is None or left < CHUNK or not run.count():
                figures = chunks.count(dtype, raw)
                tally.add(figures, elements(dtype, start))
                if figures.nan or figures.most > LIKE_TEXT:
                    patterns.read_text(raw, start)
            self.went(raw.size)
        if run is not None:
            tally.add(run.tally())
        tally.take(patterns)
        self.went(0)
        return tally

    def pass_by(self, size: int, fill: Callable[[Bytes], object]) -> None:
        """Reads bytes that are no values; raises as `count` does."""
        for begin in range(0, size, CHUNK):
            fill(self._chunks.bytes[: size - begin])
            self.went(min(CHUNK, size - begin))

    def went(self, size: int) -> None:
        """Counts bytes read, and reports them every few chunks; 0 reports the rest.

        Raises:
            Stopped: the run has ended.
        """
        if self._stopped():
            raise Stopped
        self._unreported += size
        if self._unreported > _REPORTED or not size:
            self._done(self._unreported)
            self._unreported = 0


def _patterns(dtype: str, begin: int, row: int) -> Patterns:
    kind = FLOATS.get(dtype)
    plain = kind is None or kind.bits <= 8 or dtype == "F16"
    width = kind.bits // 8 if kind and kind.bits >= 8 and dtype != "C64" else 0
    return Patterns(begin, row if width else 0, max(width, 1), plain)


def run(works: Sequence[Callable[[Worker], Result]], done: Done) -> Iterator[Result]:
    """The result of each work, in order; raises the error of the first that fails."""
    from concurrent.futures import ThreadPoolExecutor

    stop, thread = Event(), local()

    def worked(work: Callable[[Worker], Result]) -> Result:
        if not hasattr(thread, "worker"):
            thread.worker = Worker(done, stop.is_set)
        return work(thread.worker)

    with ThreadPoolExecutor(cores(), "hfcount-data") as pool:
        try:
            futures = [pool.submit(worked, work) for work in works]
            _wait(futures)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    yield from (future.result() for future in futures)


def _wait(futures: Sequence["Future[Result]"]) -> None:
    from concurrent.futures import FIRST_EXCEPTION, wait

    left = set(futures)
    while left:
        ended, left = wait(left, _PAUSE, FIRST_EXCEPTION)
        for future in ended:
            future.result()


def cores() -> int:
    """The cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
