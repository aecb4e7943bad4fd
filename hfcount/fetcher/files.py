"""Reads regular files of bounded size, and writes files atomically."""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from threading import get_ident
from time import monotonic, sleep

from hfcount.errors import FetchError
from hfcount.fetcher.interface import CAPS
from hfcount.fetcher.layout import CONFIG
from hfcount.formats.json import Document
from hfcount.text import printable

_WORD = 1_000  # bytes
_PATIENCE, _PAUSE = 2.0, 0.02  # seconds that a folder held by others is waited for, and between two looks


def read(path: Path, where: str | None = None) -> Document | None:
    """A document; None where there is no such file.

    Args:
        where: what messages call it; its path when None.

    Raises:
        FetchError: UnreadableFile.
    """
    where = where or printable(str(path))
    cap = CAPS.get(path.name, CAPS[CONFIG])
    with opened(path, where) as file:
        if file is None:
            return None
        size = os.fstat(file.fileno()).st_size
        raw = (file.read(size + 1) or b"") if size <= cap else b""
        if len(raw) > size:  # some files hold more than they say
            raw += file.read(cap + 1 - len(raw)) or b""
    if (size := max(size, len(raw))) > cap:
        raise FetchError("UnreadableFile", f"{where} has {size:,} bytes; at most {cap:,} are read.")
    return Document(where, raw)


@contextmanager
def opened(path: Path, where: str) -> Iterator[BufferedReader | None]:
    """A regular file to read from, None where there is none; what cannot be read at once gives None for its bytes.

    Raises:
        FetchError: UnreadableFile, also while it is read.
    """
    with ExitStack() as stack:
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # to open a device may already do something
                raise FetchError("UnreadableFile", f"{where} is not a regular file.")
            # It may have become another kind of file since; O_NONBLOCK: opening a FIFO would wait for a writer.
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                raise FetchError("UnreadableFile", f"{where} is not a regular file.")
            yield stack.enter_context(os.fdopen(handle, "rb"))
        except FileNotFoundError:
            yield None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise FetchError("UnreadableFile", f"{where} cannot be read: {why}.") from None


def beginning(path: Path, most: int) -> bytes | None:
    """The first bytes of a regular file, at most `most`; None where there is none that can be read."""
    with suppress(FetchError), opened(path, printable(str(path))) as file:
        return (file.read(most) or b"") if file else None
    return None


def word(path: Path) -> str:
    """What a short file of ASCII holds, such as a commit; empty where there is none."""
    raw = beginning(path, _WORD) or b""
    return raw.decode("ascii").strip() if raw.isascii() else ""


@contextmanager
def held(folder: Path, alone: bool = True) -> Iterator[None]:
    """Waits until no other process or thread holds a folder, or none that is `alone`, and holds it meanwhile.

    It waits for at most 2 s, for others may have stopped while they hold it. Where folders cannot be held (Windows,
    some network drives, no such folder) it waits for nobody. Files appear whole or not at all in any case.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)  # which lets it go, as does the end of a process
            how, until = fcntl.LOCK_EX if alone else fcntl.LOCK_SH, monotonic() + _PATIENCE
            while not _taken(handle, how | fcntl.LOCK_NB) and monotonic() < until:
                sleep(_PAUSE)
        yield


def _taken(handle: int, how: int) -> bool:
    import fcntl

    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        return False
    return True


def write(path: Path, raw: bytes) -> None:
    """Writes a file that appears whole or not at all, in the place of an earlier one.

    Raises:
        OSError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C, too, leaves no half of a file
        os.unlink(temporary)
        raise


class FolderReader:
    """Files of a local folder."""

    def __init__(self, folder: Path, label: str | None = None) -> None:
        self.folder, self._label = folder, label

    def document(self, name: str) -> Document | None:
        """See FileReader."""
        return read(self.folder / name, self._label and f"{self._label} {name}")

    def range(self, name: str, start: int, stop: int) -> bytes:
        """See FileReader."""
        with opened(self.folder / name, printable(name)) as file:
            if file is None:
                raise FetchError("UnreadableFile", f"{printable(name)} was deleted meanwhile.")
            file.seek(start)
            return file.read(stop - start) or b""

    def close(self) -> None:
        """Nothing is open."""
