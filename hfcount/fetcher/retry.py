"""Deadlines and retries of HTTP requests."""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from socket import SHUT_RDWR, socket
from threading import Event, Lock, Thread
from typing import Any

from urllib3 import BaseHTTPResponse
from urllib3.util import Retry

from hfcount.errors import FetchError

SECONDS = 300.0
"""For all requests of a run."""


class Deadline:
    """The time that all requests together may take, and the wish to stop before.

    A socket's timeout starts anew with every byte, so a server that trickles could hold a run for ever: when the time
    is up, all sockets that are watched are shut down, and whoever waits for one is woken.

    Args:
        waiting: called with what is waited for, before a wait.
    """

    def __init__(self, seconds: float, waiting: Callable[[str], None] | None = None) -> None:
        self._waiting = waiting
        self._seconds, self._ends, self._stopped = seconds, time.monotonic() + seconds, Event()
        self._sockets: list[socket] = []
        self._lock = Lock()
        self._watcher: Thread | None = None

    def stop(self) -> None:
        """Ends all waiting."""
        self._stopped.set()
        with self._lock:
            for connection in self._sockets:
                with suppress(OSError):
                    connection.shutdown(SHUT_RDWR)
                connection.close()
            self._sockets.clear()

    def watched(self, connection: socket) -> socket:
        """The same socket, which is shut down when the time is up."""
        with self._lock:
            if self._stopped.is_set():  # while this one was being connected
                connection.close()
                raise ConnectionAbortedError("stopped")
            # A copy, since TLS takes the descriptor away from the socket it wraps.
            self._sockets.append(connection.dup())
            if self._watcher is None:
                self._watcher = Thread(target=self._watch, daemon=True)
                self._watcher.start()
        return connection

    def end(self) -> None:
        """Ends all waiting, and the thread that watches."""
        self.stop()
        if self._watcher is not None:
            self._watcher.join()

    def _watch(self) -> None:
        self._stopped.wait(max(self.left(), 0))
        self.stop()

    def check(self) -> None:
        """Raises FetchError when time is up."""
        if self.left() <= 0:
            raise FetchError(
                "NoNetwork", f"reading took longer than the {self._seconds:,.0f} seconds of --timeout. Try again."
            )
        if self._stopped.is_set():
            raise FetchError("NoNetwork", "stopped before everything was read.")

    def left(self) -> float:
        """Seconds."""
        return self._ends - time.monotonic()

    def pause(self, headers: Mapping[str, str], attempt: int) -> None:
        """Waits before the next attempt: as long as the answer asks, or a little longer each time.

        Raises:
            FetchError: more is asked than is left.
        """
        asked = asked_to_wait(headers)
        if asked is not None and asked > self.left():
            duration = f"{asked:,.0f} seconds" if asked < float("inf") else "for an unreadable time"
            raise FetchError("HubError", f"the Hub asks to wait {duration}. Try again then, or set HF_TOKEN.")
        self.wait(min(8.0, 0.5 * 2**attempt) if asked is None else asked)

    def announce(self, what: str) -> None:
        """Says what is waited for: a host, its answer, and which attempt is next."""
        if self._waiting is not None:
            self._waiting(f"waiting for {what}")

    def wait(self, seconds: float) -> None:
        """Waits, unless all stops or time is up before."""
        self._stopped.wait(min(seconds, max(self.left(), 0)))
        self.check()


class HubRetry(Retry):
    """urllib3's Retry for connections that fail; answers that ask to wait are seen to by `Deadline.pause`."""

    def __init__(self, deadline: Deadline | None = None, **settings: Any) -> None:
        usual: dict[str, Any] = {"total": 5, "connect": 2, "read": 1, "other": 1}  # such as a certificate's
        usual |= {"backoff_factor": 0.5, "backoff_max": 8}
        # urllib3 would read an answer to its end before it asks again, however long that is.
        usual |= {"status": 0, "redirect": False, "raise_on_status": False, "respect_retry_after_header": False}
        super().__init__(**(usual | settings))
        self.deadline = deadline or Deadline(SECONDS)

    def new(self, **settings: Any) -> "HubRetry":
        """The attempts that are left after one more failure."""
        following = super().new(**settings)
        following.deadline = self.deadline
        return following

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Waits a little longer each time."""
        self.deadline.wait(self.get_backoff_time())


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks for: Retry-After, or `t` of a RateLimit with nothing left (`r=0`)."""
    after = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,19}", after):
        return float(after)
    if after:
        from email.utils import mktime_tz, parsedate_tz

        with suppress(ValueError, OverflowError):  # a year that no calendar has
            if date := parsedate_tz(after):
                return max(0.0, mktime_tz(date) - time.time())
        return float("inf")
    limit = re.search(r";\s*r=0\s*;\s*t=([0-9]{1,19})", headers.get("RateLimit", ""))
    return float(limit[1]) + 1 if limit else None
