"""Files on disk: read only if they are regular and not too long, written whole or not at all."""

import os
import stat
from pathlib import Path

from hfcount.errors import FetchError
from hfcount.fetcher.interface import CAPS, CONFIG
from hfcount.formats.json import Document
from hfcount.text import printable


def read(path: Path, where: str | None = None) -> Document | None:
    """A document; None where there is no such file.

    Args:
        where: what messages call it; its path when None.

    Raises:
        FetchError: UnreadableFile.
    """
    where = where or printable(str(path))
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise FetchError("UnreadableFile", f"{where} is not a regular file.")
        cap = CAPS.get(path.name, CAPS[CONFIG])
        if facts.st_size > cap:
            raise FetchError("UnreadableFile", f"{where} has {facts.st_size:,} bytes; at most {cap:,} are read.")
        return Document(where, path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FetchError("UnreadableFile", f"{where} cannot be read: {error.strerror}.") from None


def write(path: Path, raw: bytes) -> None:
    """Writes a file that appears whole or not at all, in the place of an earlier one.

    Raises:
        OSError: it cannot be written.
    """
    import tempfile  # with what it brings it takes milliseconds, and few runs write

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.chmod(temporary, 0o644)  # mkstemp lets nobody else read
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C, too, leaves no half of a file
        os.unlink(temporary)
        raise
