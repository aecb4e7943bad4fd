"""The page that says what hfcount costs: one table, in place of the one before."""

import os
import platform
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from measuring import Row

import hfcount

PAGE = Path(__file__).resolve().parents[2] / "hfcount" / "docs" / "speed.md"
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
PEERS = ("huggingface_hub", "hf-mem", "transformers")


def write(sections: Iterable[tuple[str, Sequence[Row]]], machine: str, rounds: int, page: Path = PAGE) -> None:
    """Writes the table between the marks of the page.

    Args:
        machine: what it was measured on.
        rounds: turns of each measure, at most.
    """
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    lines = [
        f"Measured {_when()} on {machine}. Medians of {rounds} turns or fewer.",
        "",
        "| | hfcount | beside it | ratio |",
    ]
    lines.append("|---|--:|--:|--:|")
    for title, rows in sections:
        lines.append(f"| **{title}** | | | |")
        lines += [f"| {row.measure.strip()} | {row.ours} | {row.peer} | {_ratio(row)} |" for row in rows]
    table = "\n".join((BEGIN, *lines, END))
    page.write_text(before + table + rest.partition(END)[2], encoding="utf-8")


def machine() -> str:
    """What it was measured on: processors, how busy they were, Python, the peers."""
    busy = f", {os.getloadavg()[0]:.1f} processes running" if hasattr(os, "getloadavg") else ""
    told = [f"{os.cpu_count()} processors ({_processor()}{busy})", platform.system(), f"Python {python_version()}"]
    told += [f"hfcount {hfcount.__version__}", *(f"{one} {found}" for one in PEERS if (found := _version(one)))]
    return ", ".join(told)


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _when() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _ratio(row: Row) -> str:
    return "" if row.ratio is None else f"{row.ratio:.2f}"
