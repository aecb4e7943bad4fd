"""Runs in workers: inspects the checkpoints of a batch, each within a deadline, and returns their rows.

A failure of a checkpoint becomes its row. If Python cannot stop one in time, the process ends and the driver finds out
which one it was. A worker also ends with its driver.
"""

import faulthandler
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from hfcount.errors import HfcountError
from hfcount.fetcher.meter import Limit, Meter, OverQuota
from hfcount.sweeping import bases, rows
from hfcount.sweeping.rows import Task
from hfcount.text import printable

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Options
    from hfcount.fetcher.interface import Documents
    from hfcount.fetcher.location import Place
    from hfcount.report.model import Report

_GRACE = 2.0  # seconds after a deadline until the process ends
_POLL = 0.5


@dataclass(frozen=True, slots=True)
class Order:
    """A batch of checkpoints for a worker.

    Args:
        number: unique, so that no executor answers it from a cache of results.
        deadline: seconds for each task.
        driver: process id of the driver.
        metered: whether requests to the Hub are counted.
    """

    number: int
    tasks: Sequence[Task]
    deadline: float
    driver: int
    metered: bool = False


@dataclass(slots=True)
class OrderResult:
    """Rows in the order of tasks; None for a task that needs more requests or must wait.

    `spent` is the number of requests made, `limits` the reported quotas, `wait` the seconds until the next request.
    """

    rows: list[bytes | None] = field(default_factory=list)
    spent: int = 0
    limits: list[Limit] = field(default_factory=list)
    wait: float = 0.0


class _TimedOut(BaseException):
    """The deadline has passed; a BaseException, so that no handler in between catches it."""


def work(order: Order) -> OrderResult:
    """The rows of an order."""
    apart = os.getpid() != order.driver
    if apart and os.getppid() == order.driver:
        _follow(order.driver)
    try:
        return _answer(order, apart)
    finally:
        if apart:
            _disarm()


def _answer(order: Order, apart: bool) -> OrderResult:
    answer = OrderResult()
    for task in order.tasks:
        meter = Meter(task.cost) if order.metered and task.cost else None
        if answer.wait:  # the Hub would refuse further requests
            answer.rows.append(None)
            continue
        try:
            answer.rows.append(_row(task, order.deadline, meter, apart))
        except OverQuota as over:
            answer.rows.append(None)
            answer.wait = over.wait
        if meter:
            answer.spent += meter.spent
            answer.limits += meter.heard.values()
    return answer


def ready() -> int:
    """Does nothing; a result shows that workers start."""
    return os.getpid()


def prepare(driver: int, memory: int) -> None:
    """Prepares a worker process: it ends with the driver, ignores Ctrl-C, and has a memory limit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _follow(driver)
    if sys.platform == "linux":
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _row(task: Task, deadline: float, meter: Meter | None, apart: bool) -> bytes:
    if task.request is None:
        return rows.skipped(task)
    from hfcount.checkpoints.inspect import inspect  # which the driver does without

    try:
        with _limited(deadline, apart), _no_collection() if apart else nullcontext():
            opened: list[Documents | Place] = []
            request = task.request.replace(timeout=deadline, meter=meter)
            options = _options()._replace(opened=opened.append)
            report = inspect(request, task.settings.applied_to(options) if task.settings else options)
            return rows.line(task if task.bases else _with_bases(task, opened, report), report)
    except OverQuota:
        raise
    except _TimedOut:
        return rows.unread(task, "TimedOut", f"it took longer than {deadline:,g} seconds")
    except MemoryError:
        return rows.unread(task, "OutOfMemory", "it needs more memory than a worker has")
    except HfcountError as error:
        return rows.unread(task, error.kind, str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return rows.unread(task, "Crash", f"{type(error).__name__}: {printable(str(error))}")


def _with_bases(task: Task, opened: "Sequence[Documents | Place]", report: "Report") -> Task:
    """The task with the bases that its files name."""
    if task.request is None:
        return task
    named_bases = bases.read(task.request, opened[0] if opened else None, report)
    named = tuple(base for base in named_bases if base.model not in (task.model, task.request.model))
    return replace(task, bases=named) if named else task


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disables garbage collection, which would repeatedly scan many tuples without finding garbage."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _limited(seconds: float, apart: bool) -> Iterator[None]:
    """Raises _TimedOut after a deadline in the main thread, and ends a process that still goes on.

    The process is ended by a thread without the GIL, so that no endless loop in a library can prevent it.
    """

    def over(*_: Any) -> None:
        raise _TimedOut

    main = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
    if apart:
        _arm(seconds)
    before = signal.signal(signal.SIGALRM, over) if main else None
    if main:
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if main:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


_ARMED = [0.0]  # when the watchdog was last set


def _arm(seconds: float) -> None:
    """Sets a watchdog that ends the process after about 1.5 times the seconds, unless set again.

    Not set for every checkpoint, since it starts a thread; the end of a batch disarms it.
    """
    now = time.monotonic()
    if not _ARMED[0] or now - _ARMED[0] > seconds / 2:
        _ARMED[0] = now
        faulthandler.dump_traceback_later(1.5 * seconds + _GRACE, exit=True, file=_nowhere())


def _disarm() -> None:
    _ARMED[0] = 0.0
    faulthandler.cancel_dump_traceback_later()


@cache
def _options() -> "Options":
    """Options for all inspections in this process."""
    from hfcount.blueprints.cache import RecentBlueprints
    from hfcount.checkpoints.inspection import Options
    from hfcount.formats.index_cache import RecentIndexes

    return Options(indexes=RecentIndexes(), blueprints=RecentBlueprints())


@cache
def _nowhere() -> Any:
    return open(os.devnull, "w")  # for as long as the process lives


@cache
def _follow(driver: int) -> None:
    """Ends this process when its parent ends."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(_POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
