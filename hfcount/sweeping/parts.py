"""Reads and atomically writes parts, the files of rows in OUT.

    OUT/data/part-000001.parquet        .jsonl where pyarrow is not installed
    OUT/data/part-000002-2of5.parquet   by shard 2/5, so that the parts of several folders can be put into one

Of two rows of a checkpoint the one in the later part counts, or the first within a part. Two exist if a driver was
killed while it replaced rows or joined parts, or if several versions of hfcount inspected the checkpoint.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from hfcount.errors import SweepError
from hfcount.sweeping import rows
from hfcount.sweeping.keys import Keys
from hfcount.text import printable
from hfcount.version import install

PART = re.compile(r"part-(\d{6,})(?:-(\d+of\d+))?\.(parquet|jsonl)")
"""The name of a part: its number, its shard, its kind."""

_LOOKS = 100  # attempts to read while parts are being joined


def parts(out: Path) -> list[Path]:
    """The parts of a sweep, in order: the later the number, the later it was written."""
    return sorted((path for path in (out / "data").glob("part-*") if PART.fullmatch(path.name)), key=_place)


def number(path: Path) -> int:
    """The number of a part."""
    return _place(path)[0]


def shard(path: Path) -> str:
    """The label of the shard that wrote a part; empty if none."""
    return _place(path)[1]


def kind_of(out: Path) -> str:
    """The format of parts: that of existing ones, else Parquet if pyarrow is installed.

    Raises:
        SweepError: they are Parquet, and pyarrow is not installed.
    """
    from importlib.util import find_spec

    there, able = {path.suffix[1:] for path in parts(out)}, find_spec("pyarrow") is not None
    if "parquet" in there and not able:
        raise SweepError(
            f"{printable(str(out))} has Parquet files, which pyarrow reads: {install('pyarrow')} installs it."
        )
    return next(iter(there)) if there else "parquet" if able else "jsonl"


def read(out: Path, columns: Sequence[str] = tuple(rows.COLUMNS)) -> Iterator[dict[str, Any]]:
    """The latest row of each checkpoint and commit, a few at a time, even if parts are joined meanwhile.

    Raises:
        SweepError: a part cannot be read.
    """
    kind_of(out)
    keys, wanted = Keys(), tuple(dict.fromkeys((*rows.CHECKPOINT, *columns)))
    for look in range(_LOOKS):
        try:
            for path in reversed(parts(out)):
                for row in read_part(path, wanted):
                    if keys.add(*rows.checkpoint(row)):
                        yield {name: row[name] for name in columns}
        except FileNotFoundError:  # another sweep has joined it: its rows are in another one now
            if look + 1 < _LOOKS:
                continue
            raise SweepError(f"the files of {printable(str(out))} keep changing.") from None
        return


def read_part(path: Path, columns: Sequence[str] = tuple(rows.COLUMNS)) -> Iterator[dict[str, Any]]:
    """The rows of a part.

    Raises:
        FileNotFoundError: there is none.
        SweepError: it cannot be read.
    """
    try:
        if path.suffix == ".parquet":
            from hfcount.sweeping import parquet

            yield from parquet.read(path, columns)
        else:
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    row = {name: [] for name in rows.LATER} | json.loads(line)
                    yield {name: row[name] for name in columns}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise SweepError(f"{printable(str(path))} cannot be read: {printable(str(error))}.") from None


def write(path: Path, lines: IO[bytes]) -> None:
    """Writes a part atomically, replacing one of that name."""
    temporary = path.with_name(f".{path.name}.tmp")
    if path.suffix == ".parquet":
        from hfcount.sweeping import parquet

        parquet.write(temporary, lines)
    else:
        with temporary.open("wb") as file:
            file.writelines(lines)
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _place(path: Path) -> tuple[int, str]:
    match = PART.fullmatch(path.name)
    assert match, path
    return int(match[1]), match[2] or ""
