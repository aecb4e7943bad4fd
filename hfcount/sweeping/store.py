"""Stores rows in OUT, the folder of a sweep, and what the next run needs to resume.

    OUT/data/               parts: a few thousand rows each
    OUT/.sweep/rows.jsonl   rows that are in no part yet
    OUT/.sweep/lock         held by the driver while it runs
    OUT/.sweep/2of5/        the same of a driver that has shard 2/5

A row is written to rows.jsonl as soon as it is known. A part is written under a temporary name and renamed before its
rows leave rows.jsonl; after a kill in between they are in both, and one is kept. A row that replaces another is written
like any other; the replaced row is dropped when the sweep is done.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from hfcount.errors import SweepError
from hfcount.sweeping import cleanup as tidy
from hfcount.sweeping import parts, rows
from hfcount.sweeping.keys import Keys
from hfcount.sweeping.locks import Lock
from hfcount.sweeping.retry import RetryRules
from hfcount.sweeping.shard import Shard
from hfcount.text import printable

ROWS, SECONDS = 5_000, 300.0
"""Rows, or seconds, after which a part is written."""

_JOURNAL = "rows.jsonl"


class Store:
    """The rows of a sweep on disk, for one driver at a time, or one for each shard.

    Args:
        again: rules for checkpoints to inspect again; the old row stays until there is a new one.
        shard: the share of this driver.

    Raises:
        SweepError: another driver holds the folder, or it cannot be used.
    """

    def __init__(self, out: Path, again: RetryRules | None = None, shard: Shard | None = None) -> None:
        self.out, self.data, self._base = out, out / "data", out / ".sweep"
        self.state = self._base / shard.label if shard else self._base
        self._again, self._label = again or RetryRules(), f"-{shard.label}" if shard else ""
        self._seen, self._stale, self._claimed = Keys(), Keys(), Keys()
        self.written = self.replaced = 0
        self._counts, self._doubled, self._tidied = dict[Path, int](), False, False
        self._since = time.monotonic()
        with ExitStack() as opened:
            try:
                self.data.mkdir(parents=True, exist_ok=True)
                self._base.mkdir(exist_ok=True)
                self._lock = Lock(self._base, shard)
                opened.callback(self._lock.close)
                for left in self.data.glob(".*.tmp" if self._lock.alone else f".part-*{self._label}.*.tmp"):
                    left.unlink()  # by a driver that was killed
                self.kind = parts.kind_of(out)
                self._journal, self._waiting = self._recovered()
                self._lock.share()
                for path in reversed(parts.parts(out)):
                    self._known(path)
                if len(self._stale):
                    self.seal()  # so that no part has two rows of one checkpoint
            except OSError as error:
                raise SweepError(f"{printable(str(out))} cannot be used: {error.strerror}.") from None
            opened.pop_all()
        self._there = len(self._seen)

    @property
    def before(self) -> int:
        """Checkpoints that keep an earlier row."""
        return self._there - self.replaced

    def has(self, model: str, revision: str | None) -> bool:
        """Whether a checkpoint has a valid row or is claimed."""
        key = (model, revision)
        return key in self._seen and (key not in self._stale or key in self._claimed)

    def claim(self, model: str, revision: str | None) -> bool:
        """Claims a checkpoint; returns False if it has a valid row or is already claimed."""
        if (model, revision) in self._stale:
            return self._claimed.add(model, revision)
        return self._seen.add(model, revision)

    def replaces(self, row: Mapping[str, Any]) -> bool:
        """Whether a row replaces another."""
        return rows.checkpoint(row) in self._stale

    def add(self, lines: Sequence[bytes]) -> None:
        """Appends rows."""
        self._journal.write(b"".join(lines))
        self._journal.flush()
        self._waiting += len(lines)
        self.written += len(lines)
        if len(self._stale):
            self.replaced += sum(map(self.replaces, map(json.loads, lines)))
        if self._waiting >= ROWS or (self._waiting and time.monotonic() - self._since > SECONDS):
            self.seal()

    def seal(self) -> None:
        """Writes waiting rows as a part."""
        self._since = time.monotonic()
        if not self._waiting:
            return
        number = max(map(parts.number, parts.parts(self.out)), default=0) + 1
        path = self.data / f"part-{number:06}{self._label}.{self.kind}"
        self._journal.seek(0)
        parts.write(path, self._journal)
        self._journal.seek(0)
        self._journal.truncate()
        self._counts[path], self._waiting = self._waiting, 0

    def tidy(self) -> None:
        """Writes waiting rows; drops replaced rows and joins small parts, unless other drivers are active."""
        self.seal()
        if not self._tidied and self._lock.alone_now():
            if self._doubled or self.replaced:
                tidy.drop(self.out, self._again)
            tidy.join(self.out, self._counts, ROWS)
            self._tidied = True

    def close(self) -> None:
        """Writes waiting rows and releases the folder."""
        try:
            self.seal()
        finally:
            self._journal.close()
            self._lock.close()

    def _known(self, path: Path) -> None:
        """Registers the rows of a part, after those of later parts."""
        count, add = 0, self._seen.add
        if self._again:
            for row in parts.read_part(path, (*rows.CHECKPOINT, "version", "reason")):
                count += 1
                self._note(row)
        else:
            for row in parts.read_part(path, rows.CHECKPOINT):  # of which there may be very many
                count += 1
                self._doubled |= not add(row["model"], row["revision"])
        self._counts[path] = count

    def _note(self, row: Mapping[str, Any]) -> None:
        if not self._seen.add(*rows.checkpoint(row)):
            self._doubled = True
        elif self._again.takes(row):
            self._stale.add(*rows.checkpoint(row))

    def _recovered(self) -> tuple[IO[bytes], int]:
        """The journal with rows that killed drivers left in no part, and their number."""
        path = self.state / _JOURNAL
        journals = [self._base / _JOURNAL, *sorted(self._base.glob(f"*of*/{_JOURNAL}"))] if self._lock.alone else []
        left = {key: line for journal in dict.fromkeys((path, *journals)) for key, line in self._left(journal)}
        temporary = path.with_name(".rows.tmp")
        temporary.write_bytes(b"".join(left.values()))
        os.replace(temporary, path)
        for other in journals:
            if other != path:
                other.unlink(missing_ok=True)
        for line in left.values():
            self._note(json.loads(line))
        journal = path.open("rb+")
        journal.seek(0, os.SEEK_END)
        return journal, len(left)

    def _left(self, journal: Path) -> Iterator[tuple[tuple[str | None, str | None], bytes]]:
        """Complete rows of a journal that are in no part."""
        raw = journal.read_bytes() if journal.exists() else b""
        lines = [line for line in raw.splitlines(keepends=True) if line.endswith(b"\n")]
        label = "" if journal.parent == self._base else journal.parent.name
        last = [path for path in parts.parts(self.out) if parts.shard(path) == label][-1:] if lines else []
        written = {rows.encoded(row) for path in last for row in parts.read_part(path)}
        for line in lines:
            if line not in written:
                yield rows.checkpoint(json.loads(line)), line
