"""The option --card of verify and diff."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from hfcount.cli import option_types as read
from hfcount.cli.output import said, written
from hfcount.cli.output_files import STDOUT, writable

_KINDS = {".yaml": False, ".yml": False, ".md": True}
"""Whether a file is Markdown, by its suffix."""


class CardFile(NamedTuple):
    """Where a card is written; Markdown or YAML."""

    path: Path
    as_markdown: bool

    @property
    def printed(self) -> bool:
        """Whether it takes the place of what else would be printed."""
        return self.path == STDOUT

    def write(self, make: Callable[[bool], str]) -> bool:
        """Writes the card, or exits with the reason; returns False if it is printed and the output is closed.

        Args:
            make: returns the card as Markdown, or as YAML.
        """
        if self.printed:
            return said(partial(make, self.as_markdown))
        written(self.path, lambda: f"{make(self.as_markdown)}\n".encode())
        return True


def _card(_context: click.Context, _option: click.Parameter, value: str | None) -> CardFile | None:
    if value is None:
        return None
    path = Path(value)
    if path == STDOUT:
        return CardFile(path, False)
    if path.suffix.lower() not in _KINDS:
        raise click.BadParameter(f"{path} must end in .yaml, .yml or .md; - prints YAML.")
    return CardFile(writable(path), _KINDS[path.suffix.lower()])


CARD = click.option(
    "--card",
    metavar="FILE",
    callback=_card,
    shell_complete=read.some_file,
    help="Also write a card to show in a pull request: .yaml or .md; - prints YAML instead of the report.",
)
