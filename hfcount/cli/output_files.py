"""Parses the files of --output, --plot and --html, and checks that they can be written."""

import os
from collections.abc import Sequence
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from hfcount.cli.output import written
from hfcount.report.renderers import OUTPUTS

if TYPE_CHECKING:
    from hfcount.report.model import Report

_ALSO = {"htm": "html", "jsonl": "json", "junit": "xml", "markdown": "md"}


class OutputFile(NamedTuple):
    """A file to write, with its kind (a key of OUTPUTS)."""

    kind: str
    path: Path

    def write(self, reports: "Sequence[Report]", dark: bool) -> None:
        """Writes the file, or exits with the reason."""
        written(self.path, lambda: OUTPUTS[self.kind].make(self.kind, reports, dark))


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
    given = colon and _ALSO.get(name, name) in OUTPUTS
    path = Path(rest if given else value)
    suffix = name if given else path.suffix[1:].lower()
    kind = _ALSO.get(suffix, suffix)
    if kind not in kinds:
        ends = " or ".join(f".{end}" for end in (*kinds, *(also for also in _ALSO if _ALSO[also] in kinds)))
        raise click.BadParameter(f"{path} must end in {ends}: the suffix says what to write.")
    needs = OUTPUTS[kind].needs
    if needs and util.find_spec(needs[0]) is None:
        module, extra = needs
        raise click.BadParameter(f"{module} is not installed, which this needs: pip install {module} (extra {extra})")
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"{path.parent} is not a folder. Make it first.")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        raise click.BadParameter(f"{path} exists and is not a writable file.")
    return OutputFile(kind, path)
