"""Opens weight files, and raises an error if one changes or vanishes while it is read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from hfcount.checkpoints.data.runs import Bytes
from hfcount.errors import FetchError
from hfcount.fetcher import files
from hfcount.text import printable


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A file to read from.

    Raises:
        FetchError: UnreadableFile, also while it is read.
    """
    with files.opened(path, printable(path.name)) as file:
        if file is None:
            raise FetchError("UnreadableFile", f"{printable(path.name)} was deleted while hfcount read it.")
        yield file


def filled(file: BufferedReader, raw: Bytes, path: Path) -> Bytes:
    """The next bytes of a file, in place of what an array holds.

    Raises:
        FetchError: UnreadableFile: there are not as many.
    """
    if file.readinto(raw.data) != raw.size:
        raise changed(path)
    return raw


def state(path: Path) -> tuple[int, ...]:
    """Facts that change when a file is written or replaced; raises as `opened` does."""
    with opened(path) as file:
        facts = os.fstat(file.fileno())
        return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def changed(path: Path) -> FetchError:
    """The error about a file that is no longer what it was."""
    return FetchError("UnreadableFile", f"{printable(path.name)} was changed while hfcount read it. Run again.")
