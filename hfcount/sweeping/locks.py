"""Locks OUT for one driver, or for several with different shards of one sweep."""

import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from hfcount.errors import SweepError
from hfcount.sweeping.shard import Shard
from hfcount.text import printable

_TIDYING = "tidying"
"""Content of the lock while the first or last of several shards briefly cleans up."""

_PATIENCE, _POLL = 60.0, 0.1  # seconds
_ALONE = sys.platform == "win32"  # without shared locks


class Lock:
    """A lock held until closed or the process ends; `alone` if it is exclusive.

    Args:
        state: OUT/.sweep.
        shard: the share to write; None for all.

    Raises:
        SweepError: another driver holds the folder.
    """

    def __init__(self, state: Path, shard: Shard | None) -> None:
        self._state, self._shared = state, shard is not None and not _ALONE
        with ExitStack() as opened:
            self._whole = opened.enter_context(_opened(state / "lock"))
            self.alone = self._take()
            if self.alone:
                _sign(self._whole, _TIDYING if self._shared else str(os.getpid()))
            if shard is not None:
                (folder := state / shard.label).mkdir(exist_ok=True)
                mine = opened.enter_context(_opened(folder / "lock"))
                if not _taken(mine):
                    raise _refused(mine, state, f" shard {shard} of")
                _sign(mine, str(os.getpid()))
                self._agreed(state, shard)
            self._stack = opened.pop_all()

    def share(self) -> None:
        """Admits drivers of other shards."""
        if self._shared and self.alone:
            _sign(self._whole, "")
            self.alone = False
            self._take(alone=False)

    def alone_now(self) -> bool:
        """Tries to get the exclusive lock; returns whether it is held."""
        if not self.alone and _taken(self._whole):
            self.alone = True
            _sign(self._whole, _TIDYING)
        return self.alone

    def close(self) -> None:
        """Releases the folder."""
        self._stack.close()

    def _take(self, alone: bool = True) -> bool:
        """Acquires the lock, exclusively if `alone` and possible; returns whether it is exclusive."""
        ends = time.monotonic() + _PATIENCE
        while True:
            if alone and _taken(self._whole):
                return True
            if self._shared and _taken(self._whole, shared=True):
                return False
            if _said(self._whole) != _TIDYING or time.monotonic() > ends:
                raise _refused(self._whole, self._state)
            time.sleep(_POLL)

    def _agreed(self, state: Path, shard: Shard) -> None:
        """Raises SweepError if a driver splits the same checkpoints into another number of shards."""
        for path in state.glob("*of*/lock"):
            _, _, count = path.parent.name.partition("of")
            if count != str(shard.of):
                with _opened(path) as other:
                    if not _taken(other):
                        raise _refused(other, state, f" shard {path.parent.name.replace('of', '/')} of")


def _opened(path: Path) -> IO[str]:
    return path.open("a+", encoding="ascii")


def _taken(file: IO[str], shared: bool = False) -> bool:
    """Tries to lock a file, replacing an earlier lock; returns whether it succeeded."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sign(file: IO[str], text: str) -> None:
    file.truncate(0)
    file.write(text)
    file.flush()


def _said(file: IO[str]) -> str:
    file.seek(0)
    return file.read(20).strip()


def _refused(file: IO[str], state: Path, what: str = "") -> SweepError:
    by = f" (process {who})" if (who := _said(file)).isdecimal() else ""
    return SweepError(
        f"another sweep{by} is writing to{what} {printable(str(state.parent))}. Wait for its end, or name another"
        " folder."
    )
