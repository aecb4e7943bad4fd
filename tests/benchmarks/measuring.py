"""How things are measured: by turns, as medians, and each process for itself."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter

MB = 1_000_000

APART = ("sh", "-c", '"$@"; exit $?', "sh")
"""What stands before a command that tells its own peak, so that it is not that of who starts it."""

# hf-mem has the Hub's address written into it.
HF_MEM = """
import os, runpy, sys
import httpx2
build = httpx2.AsyncClient.build_request
def here(self, method, url, **others):
    return build(self, method, str(url).replace("https://huggingface.co", os.environ["HF_ENDPOINT"]), **others)
httpx2.AsyncClient.build_request = here
path = sys.argv[1]
sys.argv = sys.argv[1:]
runpy.run_path(path, run_name="__main__")
"""

# A process's peak includes what its parent held when it started it, so a small one stands between.
_LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@dataclass(frozen=True)
class Row:
    """One line of the table; `target` is for the ratio where there is a peer, and for our own number otherwise."""

    measure: str
    ours: str
    peer: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


def compare(
    measure: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    *,
    called: str,
    rounds: int,
    at_most: float | None,
) -> Row:
    """A line about two ways to do something, timed by turns (A B A B ...) after one turn that does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for run, found in zip((ours, peer), times, strict=True):
            seconds = timed(run)
            if turn:
                found.append(seconds)
    mine, theirs = map(median, times)
    ratio = mine / theirs
    target, met = ("", None) if at_most is None else (f"<= {at_most:g}", ratio <= at_most)
    return Row(measure, show(mine), f"{show(theirs)} {called}", ratio, target, met)


def alone(measure: str, run: Callable[[], object], *, rounds: int, below: float) -> Row:
    """A line about something that has no peer, in seconds."""
    timed(run)
    seconds = median(timed(run) for _ in range(rounds))
    return Row(measure, show(seconds), target=f"< {show(below)}", met=seconds < below)


def peak(measure: str, command: Sequence[str], environment: Mapping[str, str] | None = None, *, at_most: int) -> Row:
    """A line about the most memory that a process has held, in bytes."""
    found = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *command],
        env={**os.environ, **(environment or {})},
        check=True,
        capture_output=True,
        text=True,
    )
    code, most = map(int, found.stdout.split())
    _expect(code, command, found.stderr)
    most *= 1 if sys.platform == "darwin" else 1024
    return Row(measure, f"{most / MB:,.0f} MB", target=f"<= {at_most / MB:,.0f} MB", met=most <= at_most)


def process(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Callable[[], None]:
    """Running a command to its end, which has to be a good one.

    Bytecode is kept from the turn that does not count, whatever the environment says: installed packages have it.
    """
    return partial(_run, command, {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})})


def inside(command: Sequence[str], environment: Mapping[str, str]) -> Callable[[], float]:
    """Running a command that measures itself, its imports left out, and prints seconds."""

    def run() -> float:
        found = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
        _expect(found.returncode, command, found.stderr)
        return float(found.stdout.split()[-1])

    return run


def show(seconds: float) -> str:
    """A time with three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"
    raise AssertionError


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    _expect(found.returncode, command, found.stderr)


def _expect(code: int, command: Sequence[str], errors: str) -> None:
    if code:
        raise SystemExit(f"exit {code}: {' '.join(command)[:500]}\n{errors}")


def timed(run: Callable[[], object]) -> float:
    """Seconds: those that `run` reports, or else those that it takes."""
    start = perf_counter()
    reported = run()
    return reported if isinstance(reported, float) else perf_counter() - start
