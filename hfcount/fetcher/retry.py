"""How long to wait for a server, and how often to ask again."""

import re
import time
from threading import Event
from typing import Any

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from hfcount.errors import FetchError
from hfcount.fetcher.interface import TRANSIENT

SECONDS = 300.0
"""For all shards of a checkpoint."""

_MAX_WAIT = 120.0  # seconds that a server may ask for


class Deadline:
    """The time that all requests together may take; `stop` makes it now."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._ends, self._stopped = seconds, time.monotonic() + seconds, Event()

    def stop(self) -> None:
        """Ends all waiting."""
        self._stopped.set()

    def check(self) -> None:
        """Raises FetchError when time is up."""
        if self._stopped.is_set():
            raise FetchError("NoNetwork", "stopped before all headers were read.")
        if self.left() <= 0:
            raise FetchError("NoNetwork", f"the headers took longer than {self._seconds:,.0f} seconds. Try again.")

    def left(self) -> float:
        """Seconds until then."""
        return self._ends - time.monotonic()

    def wait(self, seconds: float) -> None:
        """Waits, but no longer than to the deadline or a stop, which raise FetchError."""
        self._stopped.wait(min(seconds, max(self.left(), 0)))
        self.check()


class HubRetry(Retry):
    """urllib3's Retry, told of the Hub's RateLimit header and of the time that is left."""

    deadline: Deadline

    def new(self, **settings: Any) -> "HubRetry":
        """The attempts that are left after one more failure."""
        following = super().new(**settings)
        following.deadline = self.deadline
        return following

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Waits as the server asks, or a little longer each time."""
        asked = self.get_retry_after(response) if response is not None else None
        self.deadline.wait(self.get_backoff_time() if asked is None else asked)

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds that the server asks for: Retry-After, or `t` of a RateLimit with nothing left (`r=0`)."""
        try:
            asked = super().get_retry_after(response)
        except (ValueError, HTTPError):  # more digits than a number may have, or none
            asked = float("inf")
        if asked is None and (limit := re.search(r";\s*r=0\s*;\s*t=(\d{1,19})", response.headers.get("RateLimit", ""))):
            asked = float(limit[1]) + 1
        if asked is not None and asked > min(self.deadline.left(), _MAX_WAIT):
            raise FetchError("HubError", f"the Hub asks to wait {asked:,.0f} seconds. Try again then, or set HF_TOKEN.")
        return asked


def retries(deadline: Deadline) -> HubRetry:
    """How often one request is repeated, and how long waited in between."""
    attempts = HubRetry(
        total=5, connect=2, read=1, backoff_factor=0.5, backoff_max=8, status_forcelist=TRANSIENT, raise_on_status=False
    )
    attempts.deadline = deadline
    return attempts
