"""Writes which loaders take a checkpoint whole, as a line and as the rows of a table."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hfcount.report.model import Report, ReportedLoader
from hfcount.report.renderers.depth import listed
from hfcount.verifier.loaders.loader import NAMES, short


def line(report: Report) -> str:
    """`Loads whole in transformers 5.24 (its own); not in transformers 4.57`; empty if nothing is known.

    Where nothing that was compared differs, and none takes it, it is why the first does not.
    """
    known = [loader for loader in report.loaders if loader.outcome in ("whole", "differs", "refuses")]
    whole = [loader for loader in known if loader.outcome == "whole"]
    rest = [loader for loader in known if loader.outcome != "whole"]
    if report.depth == "config":
        return ""
    if not whole and rest and report.verdict in ("verified", "explained"):
        return f"Not known to load whole anywhere: {_names(rest[:1])} {rest[0].says}"
    if not whole:
        return ""
    return f"Loads whole in {_names(whole)}" + (f"; not in {_names(rest)}" if rest else "")


def undecided(report: Report) -> str:
    """The loaders that were asked for and of which nothing is known here; empty if there are none."""
    asked = report.read_for or ()
    unknown = [reading for reading in report.loaders if reading.outcome == "unknown"]
    return _names(reading for reading in unknown if f"{reading.loader}@{reading.version}" in asked)


def _names(loaders: Iterable[ReportedLoader]) -> str:
    """`transformers 5.24 (its own) and 5.23, mlx-lm 0.32`."""
    versions: dict[str, list[str]] = {}
    for loader in loaders:
        version, name = short(loader.loader, loader.version), NAMES.get(loader.loader, loader.loader)
        versions.setdefault(name, []).append(f"{version} (its own)" if loader.home else version)
    return ", ".join(f"{library} {listed(numbers)}" for library, numbers in versions.items())


class LoaderRow(NamedTuple):
    """A loader in a table; `known` is how its outcome is known."""

    name: str
    outcome: str
    says: str
    known: str


def rows(report: Report) -> Iterator[LoaderRow]:
    """A row for each loader."""
    for loader in report.loaders:
        if loader.outcome == "foreign" and f"{loader.loader}@{loader.version}" not in (report.read_for or ()):
            continue  # of a format that it never takes
        codes = f" ({', '.join(loader.findings)})" if loader.findings else ""
        known = ", ".join(filter(None, [loader.evidence if loader.evidence != "none" else "", loader.source]))
        own = " (its own)" if loader.home else ""
        yield LoaderRow(
            f"{NAMES.get(loader.loader, loader.loader)} {loader.version}{own}",
            loader.outcome,
            f"{loader.says}{codes}".strip(),
            known,
        )
