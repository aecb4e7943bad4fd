"""Parses the files of --output, --plot and --html, and checks that they can be written."""

import os
import sys
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from hfcount.cli.output import written
from hfcount.report.renderers import OUTPUTS

if TYPE_CHECKING:
    from hfcount.report.model import Report

STDOUT = Path("-")

_ALSO = {"htm": "html", "jsonl": "json", "junit": "xml", "markdown": "md"}


class OutputFile(NamedTuple):
    """A file to write, with its kind (a key of OUTPUTS)."""

    kind: str
    path: Path

    def write(self, reports: "Sequence[Report]", dark: bool) -> None:
        """Writes the file, or exits with the reason; a picture may go to standard output."""
        if self.path == STDOUT:
            sys.stdout.buffer.write(OUTPUTS[self.kind].make(self.kind, reports, dark))
            return
        written(self.path, lambda: OUTPUTS[self.kind].make(self.kind, reports, dark))


def check_installed(kind: str) -> None:
    """Raises click.BadParameter if a kind of file needs a library that is not there."""
    needs = OUTPUTS[kind].needs if kind in OUTPUTS else None
    if needs and util.find_spec(needs[0]) is None:
        from hfcount.version import missing

        raise click.BadParameter(missing(f"this (extra {needs[1]})", needs[0]))


def outputs(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> list[OutputFile]:
    """Files given as FILE, with the kind by suffix, or as FORMAT:FILE."""
    return [output_file(value) for value in values]


def figure(_context: click.Context, _option: click.Parameter, value: str | None) -> list[OutputFile]:
    """A figure, by its suffix."""
    return [output_file(value, ("svg", "png", "pdf"))] if value is not None else []


def page(_context: click.Context, _option: click.Parameter, value: str | None) -> list[OutputFile]:
    """A page."""
    return [output_file(value, ("html",))] if value is not None else []


def output_file(value: str, kinds: Sequence[str] = tuple(OUTPUTS)) -> OutputFile:
    """Parses FILE or FORMAT:FILE; raises click.BadParameter for other kinds and unwritable paths."""
    name, colon, rest = value.partition(":")
    name = name.lower()
    given = colon and _ALSO.get(name, name) in OUTPUTS
    path = Path(rest if given else value)
    suffix = name if given else path.suffix[1:].lower()
    kind = _ALSO.get(suffix, suffix)
    if path == STDOUT and kinds == ("html",):
        kind = "html"
    if path == STDOUT and kinds == ("svg", "png", "pdf"):
        kind = "svg"
    if kind not in kinds and path == STDOUT:
        raise click.BadParameter(f"- is standard output: write which format, such as {kinds[0]}:-.")
    if kind not in kinds:
        ends = " or ".join(f".{end}" for end in (*kinds, *(also for also in _ALSO if _ALSO[also] in kinds)))
        raise click.BadParameter(f"{path} must end in {ends}: the suffix chooses the format.")
    check_installed(kind)
    if path == STDOUT:
        return OutputFile(kind, path)
    return OutputFile(kind, writable(path))


def writable(path: Path) -> Path:
    """The path; raises click.BadParameter where no file can be written."""
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"{path.parent} is not a folder. Make it first.")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        raise click.BadParameter(f"{path} exists and is not a writable file.")
    return path
