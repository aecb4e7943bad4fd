"""Executors that run orders: local processes, or any concurrent.futures.Executor."""

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import cast

from hfcount.errors import SweepError
from hfcount.sweeping.worker import Order, OrderResult, prepare, ready, work

_STARTS, _PATIENCE = 3, 120.0  # how often workers may fail to start, and seconds for each
_MOST = 4 << 30  # bytes that a worker may take

ExecutorSource = Executor | Callable[[], Executor]
"""An executor, or a factory, which can replace it when workers die."""


def processes(workers: int) -> Callable[[], Executor]:
    """A factory of process pools, each process with a share of the memory."""
    memory = min(_MOST, _memory() // (workers + 1))
    return lambda: ProcessPoolExecutor(workers, get_context("spawn"), prepare, (os.getpid(), memory))


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _MOST * 2


class Pool:
    """An executor that is replaced when it breaks.

    Args:
        given: an executor, which is left open, or a factory.
        workers: the number of workers, if known; as many processes replace an executor that breaks and cannot be
            recreated.
    """

    def __init__(self, given: ExecutorSource, workers: int) -> None:
        self.workers = workers
        if _is_executor(given):
            self._executor = cast(Executor, given)
            self._make, self._own = _again(self._executor, workers), False
            self._check()
        else:
            self._make, self._own = cast(Callable[[], Executor], given), True
            self._executor = self._make()
            self._check()

    def submit(self, order: Order) -> "Future[OrderResult]":
        """Sends an order to a worker."""
        try:
            return self._executor.submit(work, order)
        except (BrokenProcessPool, RuntimeError):
            self.renew()
            return self._executor.submit(work, order)

    def renew(self) -> None:
        """Replaces a broken executor.

        Raises:
            SweepError: its workers do not start.
        """
        for _ in range(_STARTS):
            self.end()
            self._executor, self._own = self._make(), True
            with suppress(Exception):
                self._executor.submit(ready).result(_PATIENCE)
                return
        raise SweepError(_DEAD)

    def end(self) -> None:
        """Kills the workers, unless the executor is the caller's."""
        if self._own:
            for process in list((getattr(self._executor, "_processes", None) or {}).values()):
                with suppress(Exception):  # they end by themselves, but for those that hang
                    process.kill()
            self._executor.shutdown(wait=False)

    def close(self) -> None:
        """Waits for the workers to end, unless the executor is the caller's."""
        if self._own:
            self._executor.shutdown()

    def _check(self) -> None:
        try:
            self._executor.submit(ready).result(_PATIENCE)
        except Exception:
            self.renew()


_DEAD = (
    'the workers end as they start. In a script call hfcount.sweep below `if __name__ == "__main__":`, since each'
    " worker imports the script; elsewhere check that workers can import hfcount."
)


def _is_executor(given: ExecutorSource) -> bool:
    """Whether it is an executor, or has its `submit` method, rather than a factory."""
    return isinstance(given, Executor) or (hasattr(given, "submit") and not isinstance(given, type))


def _again(executor: Executor, workers: int) -> Callable[[], Executor]:
    """A factory that replaces an executor: an equal process pool for a process pool, else a new one."""
    if type(executor) is ProcessPoolExecutor:
        names = ("_max_workers", "_mp_context", "_initializer", "_initargs")
        if all(hasattr(executor, name) for name in names):
            given = [getattr(executor, name) for name in names]
            return lambda: ProcessPoolExecutor(*given)
    return processes(workers)
