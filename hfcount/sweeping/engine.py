"""The driver's loop: submits batches in a bounded window, and finds checkpoints that kill workers.

An executor only reports that a batch failed, and a process pool loses all batches in flight at once. These become
suspects: each runs alone and is halved if it fails again, until a single checkpoint has failed alone repeatedly.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass, replace
from itertools import count

from hfcount.sweeping import rows
from hfcount.sweeping.events import Retried, Watcher
from hfcount.sweeping.pools import Pool
from hfcount.sweeping.quota import Budget, Quota
from hfcount.sweeping.rows import Task
from hfcount.sweeping.worker import Order, OrderResult

LOCAL, ASKED = 8, 4
"""Checkpoints in a batch: local ones, and those on the Hub, which use the quota."""

_DEATHS = 3  # of a checkpoint alone, since a worker can also die of something else
_NAP = 0.5  # seconds between looks at the quota
_STALL = 60.0  # seconds beyond all deadlines until a batch is given up


@dataclass(frozen=True, slots=True)
class Batch:
    """Checkpoints for one worker; `deaths` counts workers that died while running it alone."""

    tasks: Sequence[Task]
    deaths: int = 0

    @property
    def cost(self) -> int:
        """The most file requests that it makes."""
        return sum(task.cost for task in self.tasks)


class Engine:
    """Runs tasks on a pool.

    Args:
        deadline: seconds for each checkpoint.
        quota: the budget of file requests; None if no Hub is used.
        keep: called with rows as they arrive.
        watcher: called with events of retries.
    """

    def __init__(
        self,
        pool: Pool,
        deadline: float,
        quota: Quota | None,
        keep: Callable[[Sequence[bytes]], None],
        watcher: Watcher,
    ) -> None:
        self._pool, self._deadline, self._quota, self._keep = pool, deadline, quota, keep
        self._watcher = watcher
        self._flying: dict[Future[OrderResult], Batch] = {}
        self._budgets: dict[Future[OrderResult], Budget] = {}
        self._lent: Budget | None = None
        self._suspects: deque[Batch] = deque()
        self._again: deque[Batch] = deque()
        self._held: Batch | None = None
        self._numbers, self._pause = count(), 0.0

    def run(self, tasks: Iterable[Task]) -> None:
        """Runs all tasks; reads the iterable only as far as tasks are in flight."""
        source = _batches(tasks)
        while True:
            while (batch := self._next(source)) is not None:
                self._submit(batch)
            if self._flying:
                self._collect()
            elif self._held or self._suspects:
                time.sleep(min(self._pause, _NAP))
            else:
                return

    def _next(self, source: Iterator[Batch]) -> Batch | None:
        """The next batch to submit: a suspect if nothing is in flight, others while there is room."""
        if self._suspects:
            if self._flying or not self._leased(self._suspects[0]):
                return None
            return self._suspects.popleft()
        if len(self._flying) >= 2 * self._pool.workers + 1:
            return None
        if self._held is None:
            self._held = self._again.popleft() if self._again else next(source, None)
        if self._held is None or not self._leased(self._held):
            return None
        batch, self._held = self._held, None
        return batch

    def _leased(self, batch: Batch) -> bool:
        self._lent = self._quota.files if self._quota else None
        self._pause = self._lent.lease(batch.cost) if self._lent else 0.0
        return not self._pause

    def _submit(self, batch: Batch) -> None:
        order = Order(next(self._numbers), batch.tasks, self._deadline, os.getpid(), self._quota is not None)
        future = self._pool.submit(order)
        self._flying[future] = batch
        if self._lent:
            self._budgets[future] = self._lent

    def _collect(self) -> None:
        """Collects finished and failed batches."""
        longest = max(len(batch.tasks) for batch in self._flying.values()) * self._deadline + _STALL
        done, _ = wait(self._flying, _NAP if self._held else longest, FIRST_COMPLETED)
        if not done and self._held:
            return  # perhaps the quota allows it by now
        alone = len(self._flying) == 1
        failed = [future for future in done if not self._taken(future)]
        if not done:  # workers that hang so that nothing in them can end them
            failed = list(self._flying)
        elif any(isinstance(future.exception(), BrokenExecutor) for future in failed if not future.cancelled()):
            wait(self._flying, _STALL)
            failed += [future for future in list(self._flying) if future not in failed and not self._taken(future)]
        if not done or any(_broken(future) for future in failed):
            self._pool.renew()
        for future in failed:
            self._suspect(self._flying.pop(future), future, alone)

    def _taken(self, future: "Future[OrderResult]") -> bool:
        """Keeps the rows of a finished batch; returns whether it has an answer."""
        if not future.done() or future.cancelled() or future.exception() is not None:
            return False
        batch, answer = self._flying.pop(future), future.result()
        if budget := self._budgets.pop(future, None):
            budget.settle(batch.cost, answer.spent, answer.limits, answer.wait)
        self._keep([row for row in answer.rows if row is not None])
        left = [task for task, row in zip(batch.tasks, answer.rows, strict=True) if row is None]
        if left:
            more = left if answer.wait else [replace(task, cost=2 * task.cost) for task in left]
            self._tell(left, "TooManyRequests" if answer.wait else "MoreRequests")
            self._again.append(Batch(more))
        return True

    def _suspect(self, batch: Batch, future: "Future[OrderResult]", alone: bool) -> None:
        """Queues a batch whose worker died for the search, or records the checkpoint that killed it."""
        if budget := self._budgets.pop(future, None):
            budget.settle(batch.cost, batch.cost)
        half = len(batch.tasks) // 2
        if not alone or half or batch.deaths + 1 < _DEATHS:
            self._tell(batch.tasks, "WorkerDied" if alone else "PoolBroke")
        if not alone:
            self._suspects.append(replace(batch, deaths=0))
        elif half:
            self._suspects.extendleft((Batch(batch.tasks[half:]), Batch(batch.tasks[:half])))
        elif batch.deaths + 1 < _DEATHS:
            self._suspects.appendleft(replace(batch, deaths=batch.deaths + 1))
        else:
            message = f"{_DEATHS} workers died on this checkpoint alone: it crashes, hangs, or uses all memory"
            self._keep([rows.unread(batch.tasks[0], "WorkerDied", message)])

    def _tell(self, tasks: Sequence[Task], why: str) -> None:
        self._watcher(Retried([task.model for task in tasks], why))


def _broken(future: "Future[OrderResult]") -> bool:
    """Whether the executor itself is broken."""
    return future.done() and not future.cancelled() and isinstance(future.exception(), BrokenExecutor)


def _batches(tasks: Iterable[Task]) -> Iterator[Batch]:
    batch: list[Task] = []
    for task in tasks:
        batch.append(task)
        if len(batch) == (ASKED if task.cost else LOCAL):
            yield Batch(batch)
            batch = []
    if batch:
        yield Batch(batch)
