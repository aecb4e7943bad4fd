"""Writes the log of a sweep, one JSON object a line."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hfcount.errors import SweepError
from hfcount.sweeping.events import Begun, Ended, Kept, Retried, Waits
from hfcount.text import printable
from hfcount.version import __version__

COMMON = ("time", "event")
"""The fields of every line."""

EVENTS: Mapping[str, Sequence[str]] = {
    "begun": ("version", "out", "shard", "workers", "before", "total"),
    "row": ("model", "revision", "verdict", "reason"),
    "wait": ("kind", "seconds"),
    "retry": ("models", "why"),
    "ended": ("written", "before", "requests", "seconds", "error"),
}
"""The further fields of the line of each event."""


class Log:
    """Appends lines to a file (`-`: to standard output), each by one system call, so that readers see complete lines.

    Raises:
        SweepError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._since = path, time.monotonic()
        try:
            if path == Path("-"):
                self._file = os.dup(1)
            else:
                self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise SweepError(f"--log {printable(str(path))} cannot be written: {error.strerror}.") from None

    def __call__(self, event: object) -> None:
        """Writes the line of an event."""
        match event:
            case Begun():
                self._say("begun", {"version": __version__, **asdict(event)})
            case Kept():
                for line in event.lines:
                    self._say("row", json.loads(line))
            case Waits():
                self._say("wait", {"kind": event.kind, "seconds": round(event.seconds, 1)})
            case Retried():
                self._say("retry", asdict(event))
            case Ended():
                self._say("ended", {**asdict(event), "seconds": round(time.monotonic() - self._since, 3)})

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)

    def _say(self, event: str, facts: Mapping[str, Any]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"time": now, "event": event} | {name: facts[name] for name in EVENTS[event]}
        raw = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        try:
            os.write(self._file, raw)
        except OSError as error:
            raise SweepError(f"--log {printable(str(self._path))} cannot be written: {error.strerror}.") from None
