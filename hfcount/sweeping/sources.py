"""Sources of a sweep on disk: models by name, and trees of local or recorded checkpoints."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from hfcount.errors import HfcountError, SweepError
from hfcount.fetcher import Request, files, folder
from hfcount.fetcher.find_checkpoints import checkpoints
from hfcount.fetcher.layout import HEADERS
from hfcount.fetcher.model_names import public, understood
from hfcount.sweeping.rows import Task, label
from hfcount.sweeping.sources_spec import Collection, Listing

_COMMIT = re.compile(rb'\s*\{\s*"revision"\s*:\s*"([0-9a-f]{40})"')


def tree(root: Path) -> Iterator[Task]:
    """Every checkpoint below `root`, in order, named by its relative path.

    Raises:
        SweepError: it is not a folder.
    """
    if not root.is_dir():
        raise SweepError(f"{label(str(root))} is not a folder. Check --tree.")
    for path in checkpoints(root):
        name = os.path.relpath(path, root)
        model = root.absolute().name if name == "." else Path(name).as_posix()
        yield Task(label(model), _revision(path), Request(Path(name).as_posix(), fixtures=root.absolute()))


def models(names: Iterable[str | os.PathLike[str]]) -> Iterator[Task]:
    """Models by name: local folders, repo ids, addresses of Hub pages."""
    for given in names:
        path = not isinstance(given, str)
        name = os.fspath(given)
        if path and not os.path.isabs(name):
            name = f"./{name}"  # so that it is no repo id
        try:
            request = understood(Request(name, cache=False))
        except (HfcountError, ValueError) as error:
            kind = error.kind if isinstance(error, HfcountError) else "BadName"
            yield Task(label(public(name)), None, None, verdict="unverified", reason=kind, message=str(error))
            continue
        called = "/".join(filter(None, (request.model, request.subfolder, request.file)))
        yield Task(label(called), request.revision, request)


def is_local(task: Task) -> bool:
    """Whether a task needs no Hub."""
    return task.request is None or task.request.fixtures is not None or folder.takes(task.request)


class Online(Protocol):
    """The Hub as a source."""

    def tasks(self, source: Listing | Collection) -> Iterator[Task]:
        """The tasks of a listing or a collection."""

    def named(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Tasks of repos with their current commit and files; others unchanged."""

    def finish(self) -> None:
        """Called when all tasks have a row."""

    def close(self) -> None:
        """Ends all connections."""


def _revision(path: str) -> str | None:
    """The commit at the start of a recording."""
    match = _COMMIT.match(files.beginning(Path(path, HEADERS), 100) or b"")
    return match[1].decode() if match else None
