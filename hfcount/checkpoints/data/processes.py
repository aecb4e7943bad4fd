"""Reads files in forked processes, one a core, which send back their results.

Threads would wait for one another: between any two of numpy's calls each needs Python's lock, and two of them take
longer than one alone. Elsewhere than on Linux, or where no process may be started, there are threads all the same.
"""

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from mmap import mmap
from selectors import EVENT_READ, DefaultSelector
from typing import Any, NoReturn, TypeVar
from warnings import catch_warnings, simplefilter

from hfcount.checkpoints.data.pool import Done, Worker, cores, run
from hfcount.errors import FetchError

_PAUSE = 0.1  # seconds after which progress is reported again

_PIPE = 1 << 16  # bytes that are taken from a pipe at once

_WORD = 8  # bytes of a number that processes share

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_FEW = 8 << 20  # bytes that are read sooner than processes are started

Result = TypeVar("Result")


def run_apart(works: Sequence[Callable[[Worker], Result]], done: Done, size: int | None = None) -> Iterator[Result]:
    """The result of each work, in order; raises the error of the first that fails.

    Args:
        works: that change nothing in memory, and whose results and errors can be pickled.
        done: called in this thread with the number of bytes that were read.
        size: of what all read, in bytes, so that few are read here; None if that is not known.
    """
    if size is not None and size <= _FEW:
        worker = Worker(done, bool)  # nothing stops it but what its work raises
        yield from (work(worker) for work in works)
        return
    count = min(cores(), len(works))
    if count > 1 and sys.platform == "linux":
        team = _Team(works, count)
        if team.begin():
            yield from team.results(done)
            return
    yield from run(works, done)


class _Team:
    """Processes that share what is to be done."""

    def __init__(self, works: Sequence[Callable[[Worker], Any]], count: int) -> None:
        self._works, self._count = works, count
        self._shared = mmap(-1, _WORD * (count + 1))  # the bytes that each has read, and which work is next
        self._left: dict[int, int] = {}  # the processes that have not ended, by the pipe that they write to
        self._parent = os.getpid()

    def begin(self) -> bool:
        """Starts the processes; returns whether there are any."""
        turns: tuple[int, ...] = ()
        try:
            turns = os.pipe()  # in which is one byte: who has read it takes the next work, and puts it back
            os.write(turns[1], b".")
            for place in range(self._count):
                self._fork(place, turns)
        except OSError:
            pass  # no more of them, or no more pipes: those that there are do all of it
        except BaseException:
            self._end()
            raise
        finally:
            for end in turns:
                os.close(end)
        return bool(self._left)

    def _fork(self, place: int, turns: Sequence[int]) -> None:
        reading, writing = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until it is known here, and deaf to them there
        try:
            pid = _fork()
            if pid == 0:
                self._left[reading] = 0
                self._work(place, turns, writing)
            self._left[reading] = pid
        except OSError:
            os.close(reading)
            raise
        finally:
            os.close(writing)  # so that the pipe ends with the process
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def results(self, done: Done) -> Iterator[Any]:
        """The result of each work, in order, when all are done."""
        results: dict[int, Any] = {}
        reported = 0
        try:
            with DefaultSelector() as selector:
                for pipe in self._left:
                    selector.register(pipe, EVENT_READ, bytearray())
                while self._left:
                    for key, _ in selector.select(_PAUSE):
                        if part := os.read(key.fd, _PIPE):
                            key.data.extend(part)
                        else:
                            selector.unregister(key.fd)
                            results |= self._ended(key.fd, key.data)
                    now = self._read()
                    done(now - reported)
                    reported = now
        finally:
            self._end()
        yield from (results[number] for number in range(len(self._works)))

    def _read(self) -> int:
        """The bytes that all have read."""
        with memoryview(self._shared).cast("Q") as read:
            return sum(read[: self._count])

    def _ended(self, pipe: int, sent: bytes | bytearray) -> dict[int, Any]:
        """The results of a process that has ended.

        Raises:
            FetchError: it was killed.
        """
        os.close(pipe)
        code = _code(self._left.pop(pipe))
        if code or not sent:
            why = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise FetchError("UnreadableFile", f"A process that read files ended early ({why}). Run again.")
        try:
            results = pickle.loads(sent)  # of a process of our own
        except (EOFError, pickle.UnpicklingError):  # killed, and nobody was told
            raise FetchError("UnreadableFile", "A process that read files ended early. Run again.") from None
        if isinstance(results, BaseException):
            raise results
        assert isinstance(results, dict)
        return results

    def _end(self) -> None:
        """Ends what still runs; it holds nothing."""
        for pipe, pid in self._left.items():
            os.close(pipe)
            with suppress(ProcessLookupError):  # it has ended, and nobody is told
                os.kill(pid, signal.SIGKILL)
            _code(pid)
        self._left.clear()

    def _work(self, place: int, turns: Sequence[int], writing: int) -> NoReturn:
        """Runs works in a child process until none is left, then writes their results to the pipe."""
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, too, which ends this one
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            for pipe in self._left:
                os.close(pipe)  # or this or one of the others would wait for a parent that is gone
            with open(writing, "wb") as file:
                pickle.dump(self._found(place, turns), file)
            status = 0
        finally:
            os._exit(status)

    def _found(self, place: int, turns: Sequence[int]) -> dict[int, Any] | Exception:
        """The results of the works that this process runs, by number, or the first error."""
        results = {}
        with memoryview(self._shared).cast("Q") as read:

            def done(size: int) -> None:
                read[place] += size

            worker = Worker(done, lambda: os.getppid() != self._parent)
            try:
                while (number := self._next(turns, read)) < len(self._works):
                    results[number] = self._works[number](worker)
            except Exception as error:  # which the parent raises
                return error
        return results

    def _next(self, turns: Sequence[int], shared: memoryview) -> int:
        """The number of the next work that nobody has taken."""
        os.read(turns[0], 1)
        number: int = shared[-1]
        shared[-1] = number + 1
        os.write(turns[1], b".")
        return number


def _fork() -> int:
    """As os.fork."""
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # other threads may run: what goes on here needs no lock of theirs
        return os.fork()


def _code(pid: int) -> int:
    """The exit code of a process that has ended or will at once."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # where SIGCHLD is ignored, nobody is told
        return 0
