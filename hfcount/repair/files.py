"""Stages new files completely on disk next to the old ones, under names that no loader reads."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hfcount.errors import HfcountError
from hfcount.formats.safetensors import LENGTH_BYTES
from hfcount.repair.working_copy import Link, NewHeader, Replacement
from hfcount.text import printable

_PIECE = 2**24  # bytes in one copy
STAGED = ".hfcount-fix"
"""Suffix of staged files."""


class Unrepaired(HfcountError):
    """The repair was not made, or the next run finishes it."""

    kind = "NotWritten"


def staged(path: Path) -> Path:
    """The path of the staged file."""
    return path.with_name(f".{path.name}{STAGED}")


def needed(path: Path, change: Replacement) -> int:
    """The size of the new file in bytes."""
    if isinstance(change, NewHeader):
        return path.stat().st_size + max(len(change.new) - len(change.old), 0)
    return len(change) if isinstance(change, bytes) else 0


def stage(path: Path, change: bytes | NewHeader | Link) -> None:
    """Writes the new file next to the old one, which stays.

    Raises:
        OSError: it cannot be written.
        Unrepaired: the old file has changed since it was read.
    """
    if isinstance(change, Link):
        staged(path).unlink(missing_ok=True)
        os.symlink(change.target, staged(path))
        return
    with _appearing(staged(path), path) as handle:
        if isinstance(change, NewHeader):
            _copy(path, handle, change)
        else:
            _write(handle, change)


def write_whole(path: Path, raw: bytes, like: Path | None) -> None:
    """Writes a file that gets its name only when complete and on disk."""
    with _appearing(path, like or path) as handle:
        _write(handle, raw)


def backup(path: Path, kept: Path) -> None:
    """Keeps a file under another path, by a hard link where possible; of a link what it leads to."""
    if path.is_symlink():
        target = os.path.join(path.parent, os.readlink(path))
        os.symlink(target if os.path.isabs(os.readlink(path)) else os.path.relpath(target, kept.parent), kept)
        return
    try:
        os.link(path, kept)
    except OSError:
        if shutil.disk_usage(path.parent).free < path.stat().st_size:
            raise
        with path.open("rb") as source, _appearing(kept, path) as handle:
            while piece := source.read(_PIECE):
                _write(handle, piece)


def settle(folder: Path) -> None:
    """Flushes a folder's entries to disk."""
    with suppress(OSError):  # some systems cannot open one
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _appearing(path: Path, like: Path) -> Iterator[int]:
    """A file that gets its name only when complete and on disk, with the mode of `like`."""
    path.unlink(missing_ok=True)
    handle, partial = _nameless(path)
    try:
        with suppress(OSError, AttributeError):  # there may be no such file, or no such modes
            facts = like.stat()
            os.fchmod(handle, stat.S_IMODE(facts.st_mode))
            os.fchown(handle, facts.st_uid, facts.st_gid)
        yield handle
        os.fsync(handle)
        if partial:
            os.rename(partial, path)
        else:
            folder = os.open(path.parent, os.O_RDONLY)
            try:  # a descriptor makes Python follow the link that stands for the file
                link = f"/proc/self/fd/{handle}"
                os.link(link, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=True)
            finally:
                os.close(folder)
    except BaseException:
        if partial:
            partial.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def _nameless(path: Path) -> tuple[int, Path | None]:
    """An unnamed temporary file, which vanishes if the run is killed; a named one where unsupported."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):
            return os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o666), None
    partial = path.with_name(f"{path.name}.part")
    return os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o666), partial


def _copy(path: Path, handle: int, change: NewHeader) -> None:
    """Copies the unchanged data behind the new header.

    If both headers have one length, the whole file is copied first, which filesystems with reflinks do at once.
    """
    old, new = (len(raw).to_bytes(LENGTH_BYTES, "little") + raw for raw in change)
    with path.open("rb", buffering=0) as source:
        if source.read(len(old)) != old:
            raise Unrepaired(f"{printable(path.name)} was changed while fix ran. Run fix again.")
        size = os.fstat(source.fileno()).st_size
        begin = 0 if len(old) == len(new) else len(old)
        source.seek(begin)
        os.lseek(handle, begin and len(new), os.SEEK_SET)
        _send(source.fileno(), handle, size - begin)
    os.lseek(handle, 0, os.SEEK_SET)
    _write(handle, new)


def _send(source: int, handle: int, size: int) -> None:
    """Copies `size` bytes from the current offsets."""
    while size and hasattr(os, "copy_file_range"):
        try:
            sent = os.copy_file_range(source, handle, min(size, 2**30))
        except OSError:
            break
        if not sent:
            break
        size -= sent
    while size:
        piece = os.read(source, min(size, _PIECE))
        if not piece:
            raise Unrepaired("a weight file became shorter while it was copied. Run fix again.")
        _write(handle, piece)
        size -= len(piece)


def _write(handle: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        view = view[os.write(handle, view) :]
