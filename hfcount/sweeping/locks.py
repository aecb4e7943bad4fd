"""Who may write to OUT: one driver alone, or several that have different shards of one sweep."""

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
"""What the lock says while the first of several shards, or the last, sees to what others have left: not for long."""

_PATIENCE, _POLL = 60.0, 0.1  # seconds
_ALONE = sys.platform == "win32"  # where a lock cannot be shared


class Lock:
    """Held until it is closed or this process ends; `alone` says whether nobody else can have one of the folder.

    Args:
        state: OUT/.sweep.
        shard: which share is written, None for everything there is.

    Raises:
        SweepError: another driver is at it.
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
        """Lets drivers of other shards at the folder."""
        if self._shared and self.alone:
            _sign(self._whole, "")
            self.alone = False
            self._take(alone=False)

    def alone_now(self) -> bool:
        """Whether nobody else writes, from now on: what is asked at the end."""
        if not self.alone and _taken(self._whole):
            self.alone = True
            _sign(self._whole, _TIDYING)
        return self.alone

    def close(self) -> None:
        """Lets others at the folder."""
        self._stack.close()

    def _take(self, alone: bool = True) -> bool:
        """Takes the lock for one alone, or else for one of several; whether alone."""
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
        """Refuses to share the folder with shards of another number of shards, which have the same checkpoints."""
        for path in state.glob("*of*/lock"):
            _, _, count = path.parent.name.partition("of")
            if count != str(shard.of):
                with _opened(path) as other:
                    if not _taken(other):
                        raise _refused(other, state, f" shard {path.parent.name.replace('of', '/')} of")


def _opened(path: Path) -> IO[str]:
    return path.open("a+", encoding="ascii")


def _taken(file: IO[str], shared: bool = False) -> bool:
    """Whether the lock of a file is had now, in place of one that was had before."""
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
