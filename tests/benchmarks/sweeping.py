"""Sweeps of recorded checkpoints, each in processes of its own that say what they took."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measuring import MB, Row

# The driver's peak is told in two halves, so that growth shows.
_SWEEP = """
import json, resource, sys, time
import hfcount
from hfcount.sweeping.store import Store
halves, add = [], Store.add
def noted(store, lines):
    add(store, lines)
    if store.written >= int(sys.argv[4]) * (len(halves) + 1) // 2:
        halves.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
Store.add = noted
def used(who):
    found = resource.getrusage(who)
    return found.ru_utime + found.ru_stime
if __name__ == "__main__":
    start = time.perf_counter()
    done = hfcount.sweep(sys.argv[1], sys.argv[2], workers=int(sys.argv[3]))
    seconds, driver = time.perf_counter() - start, used(resource.RUSAGE_SELF)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([seconds, driver, used(resource.RUSAGE_CHILDREN), peak, halves, done.written]))
"""


def lay_out(fixtures: Path, root: Path, count: int, apart: bool = False) -> None:
    """So many checkpoints, which are the recorded ones by turns; `apart`: none has the index of another."""
    recorded = [path.parent for path in sorted(fixtures.rglob("config.json"))]
    for number, source in zip(range(count), itertools.cycle(recorded), strict=False):
        folder = root / f"{number // 1000:03}" / f"{number:06}-{source.name}"
        folder.mkdir(parents=True)
        for file in source.iterdir():
            if apart and file.name.endswith(".index.json"):
                (folder / file.name).write_bytes(file.read_bytes() + b"\n" * number)
            else:
                (folder / file.name).symlink_to(file)


def measured(fixtures: Path, scratch: Path, count: int) -> Iterator[Row]:
    """Rates per second of processor time, the driver's memory, and what a second worker brings."""
    tree = scratch / "tree"
    lay_out(fixtures, tree, count)
    seconds = {}
    for workers in (2, 1):
        seconds[workers], driver, rest, peak, halves, written = _run(tree, workers, count)
        assert written == count
        rate = count / (driver + rest)
        yield Row(
            f"sweep of {count:,}, {workers} workers",
            f"{rate:,.0f} per CPU second",
            f"driver {driver:.1f} s of {driver + rest:.0f} s",
            target=">= 300",
            met=rate >= 300,
        )
        size = peak * (1 if sys.platform == "darwin" else 1024)
        grown = f"at half {halves[0] * 1024 / MB:,.0f} MB" if halves else ""
        yield Row("  the driver's peak memory", f"{size / MB:,.0f} MB", grown, target="<= 100 MB", met=size <= 100 * MB)
    some = count // 5
    lay_out(fixtures, scratch / "apart", some, apart=True)
    _, driver, rest, *_ = _run(scratch / "apart", 2, some)
    yield Row(f"  {some:,} of them, no two indexes alike", f"{some / (driver + rest):,.0f} per CPU second", "")
    ratio = seconds[1] / seconds[2]
    yield Row(
        "  one worker's time by that of two",
        f"{seconds[1]:.1f} s",
        f"{seconds[2]:.1f} s",
        ratio,
        ">= 1.7",
        ratio >= 1.7,
    )


def _run(tree: Path, workers: int, count: int) -> list[float]:
    with tempfile.TemporaryDirectory() as out:
        script = Path(out) / "sweep.py"
        script.write_text(_SWEEP)
        line = [sys.executable, str(script), str(tree), f"{out}/rows", str(workers), str(count)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(line, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        found: list[float] = json.loads(done.stdout)
        return found
