"""Describes what a run compared, in how many files, and what it did not open."""

from collections.abc import Sequence

from hfcount.fetcher.reasons import named
from hfcount.formats.gguf.types import BLOCKS
from hfcount.report.model import Files, Report
from hfcount.text import plural

HELD = {"gguf": "GGUF", "adapter": "adapter"}
"""Containers that are not compared with a config in the same folder, with their names."""


def looked(report: Report) -> str:
    """What the run compared and did not open; empty if it could read nothing."""
    files = report.evidence.files if report.evidence else None
    if files is None:
        return f"config.json only{_closed(report)}" if report.family else ""
    checked = {check.name for check in report.checks}
    compared = ["names"] if {"tensors", "modules"} & checked or report.container in HELD else []
    opened = report.depth in ("headers", "data")
    if opened:
        types = "types" if report.container in HELD else "dtypes"
        compared += ["shapes", types] if compared else ["layout"]
    compared += ["total size"] if "total_size" in checked else []
    if report.source == "memory":
        values = "" if report.statistics is None else "; all values were read"
        return f"{listed(compared)} of the tensors in memory{values}"
    text = _opened(report, files, compared) if opened else _unopened(files, compared)
    return text + _closed(report)


def _opened(report: Report, files: Files, compared: Sequence[str]) -> str:
    some = files.found and files.opened < files.named  # else all, or others that are there in their place
    opened = _of(files.opened, files.named) if some else plural(files.opened, "file")
    by = "pickles (no code was run)" if report.container == "pickle" else "headers"
    data = "values were not read" if report.statistics is None else _values(report)
    return f"{listed([*compared, 'sizes'])} of {opened} by their {by}; {data}"


def _values(report: Report) -> str:
    """`every value of 12 tensors was read, and the scales of 30 that are quantised`."""
    packed = sum(row.dtype in BLOCKS for row in report.statistics or ())
    unpacked = len(report.statistics or ()) - packed
    scales = f"the scales of {plural(packed, 'quantised tensor')}"
    if packed and not unpacked:
        return f"{scales} were read"
    return f"all values of {plural(unpacked, 'tensor')} were read{f', and {scales}' if packed else ''}"


def _unopened(files: Files, compared: Sequence[str]) -> str:
    sized = [*compared, *([f"sizes of {_of(files.sized, files.named)}"] if files.sized else [])]
    many = f"the {plural(files.named, 'weight file')} were"
    unknown = f"{many if files.named != 1 else 'the weight file was'} not checked"
    closed = "headers were not read (--depth headers reads them)"
    closed = closed if files.found else "no weight file is there"
    return f"{listed(sized) or 'the index'}; {unknown if files.found is None else closed}"


def _closed(report: Report) -> str:
    """`; not opened: a.gguf, b.gguf and 3 more (GGUF)`: what lies beside the model."""
    known = {name for other in report.not_looked_at for name in other.files}
    files = report.evidence.files if report.evidence else None
    closed = [f"{named(other.files, other.count)} ({other.kind})" for other in report.not_looked_at if other.count]
    closed += [f"{name} ({why})" for name, why in (files.apart if files else {}).items() if name not in known]
    absent = "".join(f"; there is {other.kind}" for other in report.not_looked_at if not other.count)
    return (f"; not opened: {', '.join(closed)}" if closed else "") + absent


def listed(words: Sequence[str]) -> str:
    """`names, sizes and dtypes`."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _of(some: int, files: int) -> str:
    """`14 files`, `2 of 14 files`."""
    return plural(files, "file") if some == files else f"{some:,} of {plural(files, 'file')}"
