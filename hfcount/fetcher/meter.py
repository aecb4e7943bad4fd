"""Limits the requests of a run to the Hub, as many runs share a quota."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

_WAIT = 60.0  # seconds, after a 429 that does not say how long


class OverQuota(Exception):
    """A run has made all the requests it may, or the Hub has refused one for now; `wait` is seconds, 0 for the first.

    No FetchError: nothing is wrong with the checkpoint, and another run will read it.
    """

    def __init__(self, wait: float = 0.0) -> None:
        super().__init__(f"the quota is used up, for {wait:.0f} seconds" if wait else "more requests than allowed")
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Limit:
    """A window of the Hub's RateLimit headers.

    Args:
        kind: of requests, such as `api` or `resolvers`.
        left: requests.
        reset: when the next window begins, in seconds since the epoch.
        quota: requests of a whole window; window: its seconds.
    """

    kind: str
    left: int
    reset: float
    quota: int | None = None
    window: float | None = None


@dataclass
class Meter:
    """Counts the requests of a run to the endpoint: `spent` of `most`. `heard` has the latest of each limit."""

    most: int
    spent: int = 0
    heard: dict[str, Limit] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def spend(self) -> None:
        """Counts a request that is about to be made.

        Raises:
            OverQuota: it is one too many.
        """
        with self._lock:
            if self.spent >= self.most:
                raise OverQuota
            self.spent += 1

    def lose(self) -> None:
        """Takes note of a request without an answer."""

    def hear(self, status: int, headers: Mapping[str, str]) -> None:
        """Takes note of an answer.

        Raises:
            OverQuota: it asks to come back later.
        """
        if latest := limit(headers):
            with self._lock:
                self.heard[latest.kind] = latest
        if status == 429:
            raise OverQuota(wait_of(headers))


def limit(headers: Mapping[str, str]) -> Limit | None:
    """The window in an answer's `RateLimit: "api";r=499;t=12` and `RateLimit-Policy`."""
    match = re.search(r'"?([\w-]*)"?\s*;\s*r=([0-9]{1,15})\s*;\s*t=([0-9]{1,9})', headers.get("RateLimit", ""))
    if match is None:
        return None
    policy = headers.get("RateLimit-Policy", "")
    quota, window = (re.search(rf";\s*{name}=([0-9]{{1,15}})", policy) for name in "qw")
    return Limit(
        match[1],
        int(match[2]),
        time.time() + float(match[3]),
        int(quota[1]) if quota else None,
        float(window[1]) if window else None,
    )


def wait_of(headers: Mapping[str, str]) -> float:
    """Seconds that a 429 asks to wait."""
    from hfcount.fetcher.retry import asked_to_wait  # which brings in an HTTP client

    asked = asked_to_wait(headers)
    return max(1.0, asked if asked is not None and asked < float("inf") else _WAIT)
