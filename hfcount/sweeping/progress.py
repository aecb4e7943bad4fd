"""Shows the progress of a sweep on standard error: a live line on a terminal, else a line now and then."""

import time
from collections import deque
from collections.abc import Callable
from shutil import get_terminal_size
from threading import Event, Thread
from typing import TextIO

from hfcount.sweeping.events import Begun, Ended, Kept, Passed, Waits
from hfcount.text import printable

SHOWN, FIRST, SAID = 1.0, 10.0, 60.0
"""Seconds between lines on a terminal, until the first line elsewhere, and between lines elsewhere."""

_RECENT = 60.0  # seconds over which the rate is measured
_CLEAR = "\r\x1b[K"


class Progress:
    """Shows the number of finished checkpoints, the rate, and the time left.

    Args:
        stream: the output.
        clock: returns seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._live = stream.isatty()
        self._out = ""
        self._total: int | None = None
        self._written = self._passed = 0
        self._until, self._waits = 0.0, ""
        self._recent = deque[tuple[float, int]]()
        self._over = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __call__(self, event: object) -> None:
        """Updates the counts by an event."""
        match event:
            case Begun():
                self._out, self._total = printable(event.out), event.total
                self._recent.append((self._clock(), 0))
                self._thread.start()
            case Passed():
                self._passed += 1
            case Kept():
                self._written += len(event.lines)
            case Waits():
                self._until, self._waits = self._clock() + event.seconds, event.kind
            case Ended():
                self._over.set()
                self._thread.join()
                if self._live:
                    self._print(_CLEAR)

    def line(self) -> str:
        """The current progress line."""
        now, done = self._clock(), self._written + self._passed
        self._recent.append((now, self._written))
        while len(self._recent) > 2 and now - self._recent[1][0] > _RECENT:
            self._recent.popleft()
        (then, before), (_, after) = self._recent[0], self._recent[-1]
        rate = (after - before) / (now - then) if now > then else 0.0
        total = self._total
        share = f"{done:,}" if total is None else f"{done:,} of {total:,} ({_percent(done, total)})"
        parts = [f"{self._out}: {share}", f"{rate:,.0f} a second" if rate >= 10 else f"{rate:,.1f} a second"]
        if total is not None and rate:
            parts.append(f"{lasting(max(0, total - done) / rate)} left")
        if now < self._until:
            parts.append(f"waits {lasting(self._until - now)} for the Hub's quota ({self._waits})")
        return ", ".join(parts)

    def _run(self) -> None:
        pause = SHOWN if self._live else FIRST
        while not self._over.wait(pause):
            line = self.line()
            self._print(_CLEAR + line[: get_terminal_size().columns - 1] if self._live else line + "\n")
            pause = SHOWN if self._live else SAID

    def _print(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            self._over.set()


def lasting(seconds: float) -> str:
    """A readable duration: `45 s`, `3 min`, `2 h 5 min`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    return f"{minutes} min" if not hours else f"{hours:,} h {rest} min" if hours < 100 else f"{hours:,} h"


def _percent(done: int, total: int) -> str:
    return f"{100 * min(done, total) // max(total, 1)} %"
