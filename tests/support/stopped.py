"""Replaces rows of a sweep's folder in a driver that dies at each of its calls to the system in turn.

`python stopped.py FOLDER` prints one JSON object: how many moments there are, what was wrong at which, and the parts
that are there in the end.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hfcount.sweeping.parts import parts, read, read_part
from hfcount.sweeping.retry import RetryRules
from hfcount.sweeping.rows import COLUMNS, encoded
from hfcount.sweeping.store import Store
from hfcount.version import __version__

CALLS = ("open", "fsync", "replace", "unlink")
NAMES = [f"m{number}" for number in range(12)]
Row = tuple[str, str, str | None]


def line(name: str, version: str, reason: str | None = None) -> bytes:
    row = dict.fromkeys(COLUMNS) | {"model": name, "version": version, "reason": reason, "findings": []}
    return encoded(row | {"verdict": "unverified" if reason else "verified", "not_looked_at": []})


def lay_out(out: Path) -> None:
    """Parts of two rows each, of an older version, some of which could not be read, and two rows that wait."""
    for first in range(0, len(NAMES) - 2, 2):
        store = Store(out)
        store.add([line(NAMES[first], "0.0.1"), line(NAMES[first + 1], __version__, "Crash")])
        store.close()
    journal = out / ".sweep" / "rows.jsonl"
    journal.write_bytes(line(NAMES[-2], "0.0.1") + line(NAMES[-1], __version__, "Crash"))


def replace(out: Path) -> None:
    """Looks at all of them again, and joins what there is."""
    store = Store(out, RetryRules(frozenset({"Crash"}), versions=True))
    for name in NAMES:
        if store.claim(name, None):
            store.add([line(name, __version__)])
        if name == NAMES[5]:
            store.seal()
    store.tidy()
    store.close()


def dying(out: Path, moment: int | None) -> int:
    """The exit code of a driver, 9 if it has died at its n-th call."""
    child = os.fork()
    if child == 0:
        left = iter(range(sys.maxsize if moment is None else moment))

        def around(call: Callable[..., Any]) -> Callable[..., Any]:
            def wrapped(*args: Any, **kwargs: Any) -> Any:
                if next(left, None) is None:
                    os._exit(9)
                return call(*args, **kwargs)

            return wrapped

        for name in CALLS:
            setattr(os, name, around(getattr(os, name)))
        replace(out)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def waiting(out: Path) -> list[str]:
    """The checkpoints whose rows are in no part."""
    lines = (out / ".sweep" / "rows.jsonl").read_bytes().splitlines()
    return [json.loads(one)["model"] for one in lines]


def main(root: Path) -> None:
    report: dict[str, Any] = {"moments": 0, "wrong": []}
    while True:
        out = root / f"{report['moments']:03}"
        lay_out(out)
        code = dying(out, report["moments"])
        seen = Counter(row["model"] for row in read(out))
        if set(seen) | set(waiting(out)) != set(NAMES) or set(seen.values()) != {1}:
            report["wrong"].append([report["moments"], seen])
        dying(out, None)
        found = [row for path in parts(out) for row in read_part(path)]
        if sorted((row["model"], row["version"], row["reason"]) for row in found) != sorted(
            (name, __version__, None) for name in NAMES
        ):
            report["wrong"].append([report["moments"], [row["model"] for row in found]])
        if code != 9:
            break
        report["moments"] += 1
    report["parts"] = [path.name for path in parts(out)]
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
