"""Keeps what a repair replaces where no upload takes it along, and brings it back."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hfcount.fetcher.unread_files import KEPT, RECORD, kept_runs
from hfcount.formats.safetensors import LENGTH_BYTES
from hfcount.repair.files import Unrepaired, backup, write_whole
from hfcount.repair.working_copy import Link, NewHeader, Replacement
from hfcount.text import printable

_HEADER = ".header"


class Step(NamedTuple):
    """The replacement or removal (`goes`) of a file.

    Args:
        old: the old file's stat facts; None if there was none.
        kept: where the original is, below the folder; None if there was none. Of a `header` that alone is kept.
        new: the digest of what replaced it, of a header of that; None for a removal.
        link: what the file led to, if it was a link.
    """

    name: str
    goes: bool
    old: list[int] | None
    kept: str | None = None
    header: bool = False
    new: str | None = None
    link: str | None = None


def keep(folder: Path, step: Step, change: Replacement, run: Path) -> Step:
    """The step with what it needs to be undone; the original is put into the folder of the run."""
    path, header = folder / step.name, isinstance(change, NewHeader)
    content = change.new if isinstance(change, NewHeader) else change
    new = None if content is None or isinstance(content, Link) else _digest(content)
    if step.old is None:
        return step._replace(new=new)
    link = os.readlink(path) if path.is_symlink() else None
    kept = run / (step.name + _HEADER if header else step.name)
    if isinstance(change, NewHeader):
        write_whole(kept, change.old, path)
    else:
        backup(path, kept)
    return step._replace(new=new, kept=str(kept.relative_to(folder)), header=header, link=link)


def new_run(folder: Path) -> Path:
    """A new folder for the originals of a run."""
    place = folder / KEPT
    place.mkdir(parents=True, exist_ok=True)
    if not (place / ".gitignore").exists():
        (place / ".gitignore").write_text("*\n")
    run = place / str(max(map(int, kept_runs(folder)), default=0) + 1)
    run.mkdir()
    return run


def record(folder: Path, steps: list[Step]) -> None:
    """Notes that the steps of a run are done."""
    kept = next((step.kept for step in steps if step.kept), None)
    if kept:
        run = folder / Path(kept).parent
        if run.is_dir():
            text = json.dumps([step._asdict() for step in steps], indent=1)
            write_whole(run / RECORD, text.encode(), None)


def sweep(folder: Path) -> None:
    """Removes originals of runs that changed nothing."""
    place = folder / KEPT
    for number in kept_runs(folder):
        if not (place / number / RECORD).exists():
            shutil.rmtree(place / number, ignore_errors=True)
    _tidy(folder)


class Undoing(NamedTuple):
    """What brings back the originals of the latest run."""

    run: Path
    changes: Mapping[str, Replacement]


def undoing(folder: Path) -> Undoing:
    """What brings back the originals of the latest run.

    Raises:
        Unrepaired: there are none, or a file was changed since.
    """
    place = folder / KEPT
    runs = [number for number in kept_runs(folder) if (place / number / RECORD).exists()]
    if not runs:
        raise Unrepaired(f"fix has repaired nothing in {printable(str(folder))}, so there is nothing to undo.")
    run = place / max(runs, key=int)
    return Undoing(run, dict(_undone(folder, run)))


def forget(folder: Path, run: Path) -> None:
    """Removes the originals of a run that was undone."""
    shutil.rmtree(run, ignore_errors=True)
    _tidy(folder)


def _undone(folder: Path, run: Path) -> Iterator[tuple[str, Replacement]]:
    try:
        steps = [Step(**values) for values in json.loads((run / RECORD).read_bytes())]
    except (OSError, ValueError, TypeError):
        raise Unrepaired(f"{printable(str(run / RECORD))} cannot be read.") from None
    for step in steps:
        path, kept = folder / Path(step.name).name, run / Path(step.kept).name if step.kept else None
        now = _header_of(path) if step.header else path.read_bytes() if path.is_file() else None
        if (None if now is None else _digest(now)) != step.new:
            where = f" The original is in {printable(str(kept))}." if kept else ""
            text = f"{printable(str(path))} was changed after fix wrote it, so nothing is undone.{where}"
            raise Unrepaired(text)
        if step.link is not None:
            yield path.name, Link(step.link)
        elif kept is None:
            yield path.name, None
        elif step.header and now is not None:
            yield path.name, NewHeader(now, kept.read_bytes())
        else:
            yield path.name, kept.read_bytes()


def _header_of(path: Path) -> bytes | None:
    with suppress(OSError), path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        return file.read(min(length, path.stat().st_size))
    return None


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _tidy(folder: Path) -> None:
    """Removes the folder of originals, and those that it is in, if nothing else is in them."""
    place = folder / KEPT
    if place.is_dir() and set(os.listdir(place)) <= {".gitignore"}:
        shutil.rmtree(place, ignore_errors=True)
        for above in (place.parent, place.parent.parent):
            with suppress(OSError):
                above.rmdir()
