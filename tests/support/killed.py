"""Runs a repair that dies at each of its calls to the system in turn, and says what is found afterwards.

`python killed.py FOLDER`: FOLDER is spoiled and can be repaired. Prints one JSON object: the number of moments, and
what was wrong at which.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hfcount.cli.commands import find
from hfcount.repair import journal
from hfcount.repair.plan import planned

CALLS = ("open", "write", "fsync", "link", "rename", "replace", "unlink", "symlink", "copy_file_range", "fchmod")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def dying(number: int) -> None:
    """Ends the process, as kill -9 does, at its n-th call from when it begins to write."""
    left, write = iter(range(number)), journal.write

    def around(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if next(left, None) is None:
                os._exit(9)
            return call(*args, **kwargs)

        return wrapped

    def begin(*args: Any) -> Any:
        for name in CALLS:
            setattr(os, name, around(getattr(os, name)))
        return write(*args)

    journal.write = begin


def repair(folder: Path, number: int | None = None) -> int:
    """The exit code of a run in a process of its own, 9 if it died."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        command = find("fix")
        if number is not None:
            dying(number)
        os._exit(command.main([str(folder), "--write"], standalone_mode=False))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def wrong(found: dict[str, bytes], old: dict[str, bytes], new: dict[str, bytes]) -> Iterator[str]:
    """Files that are neither old nor new nor kept nor waiting, or only partly there."""
    for name, raw in found.items():
        if name in {**old, **new}:
            if raw not in (old.get(name), new.get(name)):
                yield name
        elif name.startswith("."):
            own = name.removeprefix(".").removesuffix(".hfcount-fix")
            if own in old and raw not in (old[own], new.get(own)):
                yield name
        else:
            yield name


def main(folder: Path) -> None:
    spoiled, work = files(folder), folder.with_name("work")
    planned(folder)  # so that no child has to import anything
    shutil.copytree(folder, work)
    assert repair(work) == 0
    whole = files(work)
    report: dict[str, Any] = {"moments": 0, "wrong": []}
    while True:
        shutil.rmtree(work)
        shutil.copytree(folder, work)
        code = repair(work, report["moments"])
        report["wrong"] += [(report["moments"], name) for name in wrong(files(work), spoiled, whole)]
        if code != 9:
            break
        if (again := repair(work)) or files(work) != whole:
            report["wrong"].append((report["moments"], f"exit {again}, then {sorted(files(work))}"))
        report["moments"] += 1
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
