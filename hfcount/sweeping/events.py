"""Events of a sweep, for watchers such as the log and the progress line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """A sweep begins.

    Args:
        out: the folder.
        shard: such as `2/5`; None for all.
        workers: how many.
        before: checkpoints that already had a row.
        total: requested checkpoints, with or without a row; None if unknown.
    """

    out: str
    shard: str | None
    workers: int
    before: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Passed:
    """A checkpoint already has a row and is skipped."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows are kept."""

    lines: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Waits:
    """The quota of `api` or `files` requests blocks for some seconds."""

    kind: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Retried:
    """Checkpoints are inspected again after a failure, with the reason in one word."""

    models: Sequence[str]
    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A sweep ends, with its rows and requests to the Hub; `error` is the kind of a premature end."""

    written: int
    before: int
    requests: int
    error: str | None = None


Event = Begun | Passed | Kept | Waits | Retried | Ended

Watcher = Callable[[Event], None]
"""Called with each event, from any thread."""


def unwatched(_event: object) -> None:
    """A watcher that ignores events."""
