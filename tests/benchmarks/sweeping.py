"""Sweeps of recorded checkpoints, each in processes of its own that say what they took."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measuring import APART, MB, Row

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

_RESUME = """
import resource, sys, time
from pathlib import Path
from hfcount.sweeping.rows import COLUMNS, encoded
from hfcount.sweeping.store import Store
row = dict.fromkeys(COLUMNS) | {"version": "0", "verdict": "verified", "findings": [], "not_looked_at": []}
start = time.process_time()
store = Store(Path(sys.argv[1]))
if len(sys.argv) > 3:
    for first in range(0, int(sys.argv[2]), 1000):
        names = range(first, min(first + 1000, int(sys.argv[2])))
        store.add([encoded(row | {"model": f"org/model-{one}", "revision": f"{one:040x}"}) for one in names])
else:
    assert store.before == int(sys.argv[2])
    print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
store.close()
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
    rate = some / (driver + rest)
    told = f"{rate:,.0f} per CPU second"
    yield Row(f"  {some:,} of them, no two indexes alike", told, target=">= 300", met=rate >= 300)
    yield resumed(scratch, 550_000)
    ratio = seconds[1] / seconds[2]
    yield Row(
        "  one worker's time by that of two",
        f"{seconds[1]:.1f} s",
        f"{seconds[2]:.1f} s",
        ratio,
        ">= 1.7",
        ratio >= 1.7,
    )


def resumed(scratch: Path, count: int) -> Row:
    """What it takes to open a folder of so many rows, by a process of its own."""
    line = [*APART, sys.executable, "-c", _RESUME, str(scratch / "store"), str(count)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([*line, "fill"], env=environment, check=True)
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    seconds, peak = map(float, done.stdout.split())
    size = peak * (1 if sys.platform == "darwin" else 1024)
    return Row(f"to go on after {count:,} rows, CPU time", f"{seconds:.1f} s", f"{size / MB:,.0f} MB")


def _run(tree: Path, workers: int, count: int) -> list[float]:
    with tempfile.TemporaryDirectory() as out:
        script = Path(out) / "sweep.py"
        script.write_text(_SWEEP)
        line = [*APART, sys.executable, str(script), str(tree), f"{out}/rows", str(workers), str(count)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(line, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        found: list[float] = json.loads(done.stdout)
        return found
