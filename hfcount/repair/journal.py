"""Replaces several files together, with a journal on disk that lets the next run finish."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hfcount.repair.files import STAGED, Unrepaired, needed, settle, stage, staged
from hfcount.repair.originals import Step, keep, new_run, record
from hfcount.repair.originals import sweep as sweep_originals
from hfcount.repair.working_copy import Replacement
from hfcount.text import plural

JOURNAL = f"{STAGED}.json"
"""The journal's name; it exists from when all files are staged until all are in place."""


def write(folder: Path, changes: Mapping[str, Replacement], keeping: bool = True) -> list[Step]:
    """Applies changes and keeps what they replace.

    Raises:
        OSError, Unrepaired: nothing was applied.
    """
    with _alone(folder):
        size = sum(needed(folder / name, change) for name, change in changes.items())
        free = shutil.disk_usage(folder).free
        if size > free:
            raise Unrepaired(
                f"the new files need {plural(size, 'byte')}, but only {free:,} are free. Nothing was changed."
            )
        _sweep(folder)
        try:
            for name, change in changes.items():
                if change is not None:
                    stage(folder / name, change)
            steps = [Step(name, change is None, _facts(folder / name), None) for name, change in changes.items()]
            if keeping and any(step.old for step in steps):
                run = new_run(folder)
                steps = [keep(folder, step, changes[step.name], run) for step in steps]
                settle(run)
            settle(folder)
            stage(folder / JOURNAL, json.dumps([step._asdict() for step in steps], indent=1).encode())
            os.rename(staged(folder / JOURNAL), folder / JOURNAL)
        except BaseException:
            (folder / JOURNAL).unlink(missing_ok=True)
            _sweep(folder)
            raise
        settle(folder)
        _finish(folder, steps)
    return steps


def interrupted(folder: Path) -> bool:
    """Whether a run was interrupted after all files were staged."""
    return (folder / JOURNAL).is_file()


def resume(folder: Path) -> None:
    """Finishes an interrupted run."""
    with _alone(folder):
        if interrupted(folder):
            steps = _read(folder / JOURNAL)
            # If a file was changed since, its new content stays, and the folder is inspected again.
            if all(_untouched(folder, step) for step in steps):
                _finish(folder, steps)
            (folder / JOURNAL).unlink(missing_ok=True)
        _sweep(folder)


def _finish(folder: Path, steps: list[Step]) -> None:
    for step in steps:
        path = folder / step.name
        if step.goes:
            path.unlink(missing_ok=True)
        elif os.path.lexists(staged(path)):
            os.replace(staged(path), path)
    settle(folder)
    record(folder, steps)
    (folder / JOURNAL).unlink(missing_ok=True)
    settle(folder)


def _untouched(folder: Path, step: Step) -> bool:
    """Whether a file is unchanged, or its step is done."""
    path = folder / step.name
    done = not os.path.lexists(path) if step.goes else not os.path.lexists(staged(path))
    return done or _facts(path) == step.old


def _facts(path: Path) -> list[int] | None:
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    return [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns]


def _read(path: Path) -> list[Step]:
    """The steps of a journal; none if this module did not write it."""
    try:
        records: Any = json.loads(path.read_bytes())
        steps = [Step(**record) for record in records]
    except (ValueError, TypeError):
        return []
    return [step for step in steps if step.name == Path(step.name).name]


def _sweep(folder: Path) -> None:
    """Removes staged files and originals without a journal."""
    sweep_originals(folder)
    for path in folder.glob(f".*{STAGED}*"):
        if path.name != JOURNAL:
            path.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Locks the folder against another run."""
    try:
        import fcntl
    except ImportError:  # where there are no such locks
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unrepaired("another fix is running in this folder.") from None
        except OSError:
            pass  # some filesystems know no locks
        yield
    finally:
        os.close(handle)
