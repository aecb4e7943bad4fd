"""Tracks the Hub's quota: leases requests to batches, and updates from every answer.

The Hub counts API and file requests separately in windows of 5 minutes, and reports in RateLimit headers how many are
left and when the next window begins. A lease allows a number of requests, so that all workers together stay within the
quota.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import Lock

from hfcount.fetcher.meter import Limit, Meter, limit, wait_of

_WINDOW = 300.0  # seconds, where the Hub does not say
_LATER = 1.0  # seconds after the reset, since clocks differ


class Budget:
    """The quota of one kind of request; unlimited if answers report none.

    Args:
        clock: returns seconds since the epoch, as in `Limit.reset`.
        on_wait: called once a wait, with the seconds for which nothing may be asked.
    """

    def __init__(self, clock: Callable[[], float] = time.time, on_wait: Callable[[float], None] | None = None) -> None:
        self._clock, self._lock, self._on_wait = clock, Lock(), on_wait
        self._announced = 0.0
        self.kind, self.spent, self._leased = "", 0, 0
        self._heard = self._limited = self._guessed = False
        self._left = self._quota = 0
        self._window, self._reset, self._until = _WINDOW, 0.0, 0.0

    def lease(self, cost: int) -> float:
        """Reserves requests and returns 0, or returns the seconds until the next try."""
        if not cost:
            return 0.0
        with self._lock:
            wait = self._wait(cost, self._clock())
            if not wait:
                self._leased += cost
                self._left -= cost
            announced = self._on_wait is not None and self._is_news(wait)
        if announced and self._on_wait:
            self._on_wait(wait)
        return wait

    def settle(self, cost: int, spent: int, limits: Iterable[Limit] = (), wait: float = 0.0) -> None:
        """Ends a lease.

        Args:
            cost: requests reserved by the lease.
            spent: requests made.
            limits: limits reported by answers.
            wait: seconds for which the Hub blocks all requests.
        """
        with self._lock:
            self._leased -= cost
            self._left += cost - spent
            self.spent += spent
            self._heard |= spent > 0
            for limit_ in limits:
                self._hear(limit_)
            if wait:
                self._left = 0
                self._until = self._reset = max(self._until, self._clock() + wait + _LATER)

    def _is_news(self, wait: float) -> bool:
        """Whether a wait ends later than announced ones; short waits are for answers, not for the Hub."""
        ends = self._clock() + wait
        if wait <= _LATER or ends <= self._announced + _LATER:
            return False
        self._announced = ends
        return True

    def _wait(self, cost: int, now: float) -> float:
        if now < self._until:
            return self._until - now
        if not self._heard:  # one answer tells what the others may do
            return _LATER if self._leased else 0.0
        if not self._limited:
            return 0.0
        if now >= self._reset:  # what is under way may fall into the new window
            if not self._quota:  # nobody has said of how many requests
                self._limited = False
                return 0.0
            self._reset, self._guessed = now + self._window + _LATER, True  # the first request begins it, not this
            self._left = self._quota - self._leased
        if cost <= self._left or (not self._leased and self._left >= self._quota):
            return 0.0
        # Leases that end may leave enough.
        return min(self._reset - now, _LATER) if self._leased else self._reset - now

    def _hear(self, limit: Limit) -> None:
        """Updates the balance from an answer, since other clients share the quota and windows restart."""
        self.kind, reset = limit.kind, limit.reset + _LATER
        self._quota = limit.quota if limit.quota is not None else max(self._quota, limit.left)
        self._window = limit.window or self._window
        if reset <= self._clock():  # of a window that is over
            return
        if not self._limited or reset > self._reset + self._window / 2:
            self._left, self._limited = min(self._quota, limit.left) - self._leased, True
            self._reset, self._guessed = reset, False
        elif self._guessed or reset < self._reset:
            self._reset, self._guessed = reset, False
        self._left = min(self._left, limit.left)


class Quota:
    """The budgets of a sweep: API requests by the driver, and file requests by workers.

    They are one budget if the Hub counts both together.

    Args:
        on_wait: called with the kind of request that has to wait, `api` or `files`, and for how many seconds.
    """

    def __init__(self, on_wait: Callable[[str, float], None] | None = None) -> None:
        waits = [partial(on_wait, kind) if on_wait else None for kind in ("api", "files")]
        self.api, self._files = (Budget(on_wait=wait) for wait in waits)

    @property
    def spent(self) -> int:
        """The number of requests made."""
        return self.api.spent + self._files.spent

    @property
    def files(self) -> Budget:
        """The budget of file requests."""
        return self.api if self.api.kind and self.api.kind == self._files.kind else self._files


class Gate(Meter):
    """Delays the driver's own requests until the quota allows them."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(most=0)
        self._budget = budget

    def spend(self) -> None:
        """Waits until a request may be made."""
        while pause := self._budget.lease(1):
            time.sleep(min(pause, _LATER))

    def lose(self) -> None:
        """Records a request without an answer."""
        self._budget.settle(1, 1)

    def hear(self, status: int, headers: Mapping[str, str]) -> None:
        """Records an answer; the client itself obeys Retry-After."""
        limit_ = limit(headers)
        asked = float(wait_of(headers)) if status == 429 else 0.0
        self._budget.settle(1, 1, [limit_] if limit_ else (), asked)
