"""OUT, the folder of a sweep: parts of rows that are whole or not there, and what the next run needs to go on.

    OUT/data/part-000001.parquet   rows, a few thousand each; .jsonl where pyarrow is not installed
    OUT/.sweep/rows.jsonl          rows that are in no part yet
    OUT/.sweep/lock                held by the driver while it runs

A row is written to rows.jsonl as soon as it is known. A part is written beside the others under another name, renamed,
and only then are its rows forgotten; a driver that is killed between the two finds them in both, and keeps one.
"""

import json
import os
import re
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from hfcount.errors import SweepError
from hfcount.sweeping import rows
from hfcount.sweeping.keys import Keys
from hfcount.text import printable

ROWS, SECONDS = 5_000, 300.0
"""A part is written for so many rows, or after so long."""

AGAIN = (
    *("NoNetwork", "HubError", "NoSuchRepo", "NoSuchRevision", "GatedRepo"),
    *("TimedOut", "WorkerDied", "OutOfMemory", "Crash"),
)
"""Reasons of rows that another time may give others."""

_PART = re.compile(r"part-(\d{6,})\.(parquet|jsonl)")


class Store:
    """The rows of a sweep on disk, for one driver at a time.

    Args:
        retry: whether rows of checkpoints that could not be read are forgotten.

    Raises:
        SweepError: another driver is at it, or the folder cannot be used.
    """

    def __init__(self, out: Path, retry: bool = False) -> None:
        self.out, self.data, self.state = out, out / "data", out / ".sweep"
        self.seen, self.written = Keys(), 0
        self._since = time.monotonic()
        with ExitStack() as opened:
            try:
                self.data.mkdir(parents=True, exist_ok=True)
                self.state.mkdir(exist_ok=True)
                self._lock = opened.enter_context(_locked(self.state / "lock"))
                for left in self.data.glob(".*.tmp"):  # by a driver that was killed
                    left.unlink()
                self.kind = kind_of(out)
                if retry:
                    self._forget()
                for row in read(out, ("model", "revision", "version")):
                    self.seen.add(*rows.key(row))
                self.before = len(self.seen)
                self._journal, self._waiting = self._recovered(AGAIN if retry else ())
            except OSError as error:
                raise SweepError(f"{printable(str(out))} cannot be used: {error.strerror}.") from None
            opened.pop_all()

    def claim(self, *key: str | None) -> bool:
        """Whether a key has no row yet and nobody is at it; from now on somebody is."""
        return self.seen.add(*key)

    def add(self, lines: Sequence[bytes]) -> None:
        """Keeps rows."""
        self._journal.write(b"".join(lines))
        self._journal.flush()
        self._waiting += len(lines)
        self.written += len(lines)
        if self._waiting >= ROWS or (self._waiting and time.monotonic() - self._since > SECONDS):
            self.seal()

    def seal(self) -> None:
        """Writes what waits as a part."""
        self._since = time.monotonic()
        if not self._waiting:
            return
        numbers = [int(found[1]) for path in parts(self.out) if (found := _PART.fullmatch(path.name))]
        path = self.data / f"part-{max(numbers, default=0) + 1:06}.{self.kind}"
        self._journal.seek(0)
        _write(path, self._journal)
        self._journal.seek(0)
        self._journal.truncate()
        self._waiting = 0

    def close(self) -> None:
        """Writes what waits, and lets others at the folder."""
        try:
            self.seal()
        finally:
            self._journal.close()
            self._lock.close()

    def _forget(self) -> None:
        """Writes the parts anew, without the rows of what may be read another time."""
        for path in parts(self.out):
            found = list(_rows(path, tuple(rows.COLUMNS)))
            kept = [row for row in found if row["reason"] not in AGAIN]
            if not kept:
                path.unlink()
            elif len(kept) < len(found):
                _write(path, BytesIO(b"".join(map(rows.encoded, kept))))

    def _recovered(self, again: Collection[str]) -> tuple[IO[bytes], int]:
        """The rows that a driver left in no part; of a row that it was writing when it was killed nothing."""
        path = self.state / "rows.jsonl"
        left = path.read_bytes() if path.exists() else b""
        whole = [line for line in left.splitlines(keepends=True) if line.endswith(b"\n")]
        read = [(line, json.loads(line)) for line in whole]
        kept = [line for line, row in read if row["reason"] not in again and self.seen.add(*rows.key(row))]
        temporary = path.with_name(".rows.tmp")
        temporary.write_bytes(b"".join(kept))
        os.replace(temporary, path)
        self.before += len(kept)
        journal = path.open("rb+")
        journal.seek(0, os.SEEK_END)
        return journal, len(kept)


def parts(out: Path) -> list[Path]:
    """The parts of a sweep, in order."""
    return sorted(path for path in (out / "data").glob("part-*") if _PART.fullmatch(path.name))


def kind_of(out: Path) -> str:
    """What the parts are: what they have been, else Parquet if pyarrow is there.

    Raises:
        SweepError: they are Parquet, and pyarrow is not installed.
    """
    from importlib.util import find_spec

    there, able = {path.suffix[1:] for path in parts(out)}, find_spec("pyarrow") is not None
    if "parquet" in there and not able:
        raise SweepError(f"{printable(str(out))} has Parquet files, which pyarrow reads: pip install pyarrow.")
    return next(iter(there)) if there else "parquet" if able else "jsonl"


def read(out: Path, columns: Sequence[str] = tuple(rows.COLUMNS)) -> Iterator[dict[str, Any]]:
    """The rows of all parts, a few at a time.

    Raises:
        SweepError: a part cannot be read.
    """
    kind_of(out)
    for path in parts(out):
        yield from _rows(path, columns)


def _rows(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    try:
        if path.suffix == ".parquet":
            from hfcount.sweeping import parquet

            yield from parquet.read(path, columns)
        else:
            with path.open(encoding="utf-8") as lines:
                for one in lines:
                    row = json.loads(one)
                    yield {name: row[name] for name in columns}
    except (OSError, ValueError, KeyError) as error:
        raise SweepError(f"{printable(str(path))} cannot be read: {printable(str(error))}.") from None


def _write(path: Path, lines: IO[bytes]) -> None:
    """Writes a part that appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.tmp")
    if path.suffix == ".parquet":
        from hfcount.sweeping import parquet

        parquet.write(temporary, lines)
    else:
        temporary.write_bytes(lines.read())
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _locked(path: Path) -> IO[str]:
    """The file, held until it is closed or this process ends."""
    file = path.open("a+", encoding="ascii")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        who = file.read(20).strip()
        file.close()
        by = f" (process {who})" if who.isdecimal() else ""
        raise SweepError(
            f"another sweep{by} is writing to {printable(str(path.parents[1]))}. Wait for its end, or name another"
            " folder."
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
