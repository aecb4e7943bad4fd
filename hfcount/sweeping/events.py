"""What happens in a sweep, as it is told to whoever watches: the log, the progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Begun:
    """A sweep begins.

    Args:
        out: the folder.
        shard: such as `2/5`; None for all.
        workers: how many.
        before: checkpoints that had a row.
        total: checkpoints that are asked for, where that is known: of which some may have a row.
    """

    out: str
    shard: str | None
    workers: int
    before: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Passed:
    """A checkpoint has a row, and is not looked at."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows are kept."""

    lines: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Waits:
    """The quota of a kind of request, `api` or `files`, lets nothing pass for so many seconds."""

    kind: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Retried:
    """Checkpoints are looked at once more, since nothing came of it the first time: why, in one word."""

    models: Sequence[str]
    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A sweep ends: its rows, its requests to the Hub; `error` is what ended it before its time, in one word."""

    written: int
    before: int
    requests: int
    error: str | None = None


Event = Begun | Passed | Kept | Waits | Retried | Ended

Watcher = Callable[[Event], None]
"""Is told what happens, by any thread."""


def unwatched(_event: object) -> None:
    """Watches nothing."""
