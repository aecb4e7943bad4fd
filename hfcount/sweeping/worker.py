"""What a worker does: inspects the checkpoints of a batch, within a time each, and answers with their rows.

Whatever goes wrong with one is its row. Where Python cannot stop it in time the process ends, and the driver finds out
which of the batch it was; a worker also ends with the driver that started it.
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

_GRACE = 2.0  # seconds that a checkpoint has to be stopped in before its process ends
_POLL = 0.5


@dataclass(frozen=True, slots=True)
class Order:
    """Checkpoints to look at.

    Args:
        number: no two orders have the same, so that no engine answers one with the result of another.
        deadline: seconds for each of them.
        driver: the process that asks.
        metered: whether requests to the Hub are counted.
    """

    number: int
    tasks: Sequence[Task]
    deadline: float
    driver: int
    metered: bool = False


@dataclass(slots=True)
class Answer:
    """Rows in the order of the tasks, None for one that needs more requests or has to wait.

    `spent` requests were made, `limits` is what was said of the quota, and `wait` seconds have to pass before the next.
    """

    rows: list[bytes | None] = field(default_factory=list)
    spent: int = 0
    limits: list[Limit] = field(default_factory=list)
    wait: float = 0.0


class _TimedOut(BaseException):
    """The checkpoint takes too long; no Exception, since nothing between may take it for its own."""


def work(order: Order) -> Answer:
    """The rows of an order."""
    apart = os.getpid() != order.driver
    if apart and os.getppid() == order.driver:
        _follow(order.driver)
    try:
        return _answer(order, apart)
    finally:
        if apart:
            _disarm()


def _answer(order: Order, apart: bool) -> Answer:
    answer = Answer()
    for task in order.tasks:
        meter = Meter(task.cost) if order.metered and task.cost else None
        if answer.wait:  # the Hub would refuse the others, too
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
    """Nothing: that a worker does it shows that workers start."""
    return os.getpid()


def prepare(driver: int, memory: int) -> None:
    """Readies a process that does nothing else: it ends with the driver, Ctrl-C is the driver's, memory has a limit."""
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
            request = replace(task.request, timeout=deadline, meter=meter)
            report = inspect(request, _options()._replace(opened=opened.append))
            return rows.line(task if task.bases else _with_bases(task, opened, report), report)
    except OverQuota:
        raise
    except _TimedOut:
        return rows.unread(task, "TimedOut", f"it was not done within {deadline:,g} seconds")
    except MemoryError:
        return rows.unread(task, "OutOfMemory", "it takes more memory than a worker has")
    except HfcountError as error:
        return rows.unread(task, error.kind, str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return rows.unread(task, "Crash", f"{type(error).__name__}: {printable(str(error))}")


def _with_bases(task: Task, opened: "Sequence[Documents | Place]", report: "Report") -> Task:
    """A task with the bases that the files of its checkpoint name."""
    if task.request is None:
        return task
    named_bases = bases.read(task.request, opened[0] if opened else None, report)
    named = tuple(base for base in named_bases if base.model not in (task.model, task.request.model))
    return replace(task, bases=named) if named else task


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switches off garbage collection, which would scan a hundred thousand tuples repeatedly and find no garbage."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _limited(seconds: float, apart: bool) -> Iterator[None]:
    """Raises _TimedOut in what takes longer, where this is a process's main thread; ends a process that still goes on.

    The end comes from a thread that needs no lock of Python's, so that no endless loop of any library keeps it away.
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


_ARMED = [0.0]  # when the watch over this process was last set


def _arm(seconds: float) -> None:
    """Ends the process in one and a half times the seconds or a little later, unless it is armed again before.

    Not for every checkpoint, since it starts a thread; what ends a batch disarms it.
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
    """The options of all that this process inspects."""
    from hfcount.blueprints.cache import RecentBlueprints
    from hfcount.checkpoints.inspection import Options
    from hfcount.formats.index_cache import RecentIndexes

    return Options(indexes=RecentIndexes(), blueprints=RecentBlueprints())


@cache
def _nowhere() -> Any:
    return open(os.devnull, "w")  # for as long as the process lives


@cache
def _follow(driver: int) -> None:
    """Ends this process when its parent does, however that ends."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(_POLL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
