"""Prints output, writes files, and turns errors and crashes into exit codes."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hfcount.errors import HfcountError, SettingsError
from hfcount.fetcher.files import write
from hfcount.report.renderers import FORMATS, Format
from hfcount.text import printable, writable

if TYPE_CHECKING:
    from hfcount.report.model import Report


class ReaderGone(Exception):
    """Nobody reads the output any more, as in `hfcount ... | head`."""


class Crash(HfcountError):
    """A mistake of hfcount's own."""

    kind = "Crash"


class _NotWritten(click.ClickException):
    exit_code = 3


def show(format: Format, reports: "Sequence[Report]") -> bool:
    """Prints reports; returns False if the output is closed."""
    return said(lambda: format.render(reports))


def said(render: Callable[[], str]) -> bool:
    """Prints the rendered text; returns False if the output is closed."""
    try:
        # The format has decided on colours; click would write UTF-8 where the encoding is ASCII.
        text = writable(render(), sys.stdout.encoding or "utf-8")
        if text:
            click.echo(text, color=True)
    except BrokenPipeError:
        return False
    except OSError as error:
        raise _NotWritten(f"the report could not be written: {error.strerror}") from None
    return True


def summarised(reports: "Sequence[Report]") -> None:
    """Appends reports to the step summary in GitHub Actions."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        text = FORMATS["markdown"].render(reports)
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{text}\n")
        except OSError as error:
            raise _NotWritten(f"the step summary could not be written: {error.strerror}") from None


def written(path: Path, make: Callable[[], bytes]) -> None:
    """Writes a file, or exits with the reason."""
    try:
        write(Path(os.path.realpath(path)), make())  # a link stays a link
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _NotWritten(f"{path} could not be written: {why}") from None


def crashed(error: Exception) -> Crash:
    """Reports a crash on standard error, with a traceback under --debug; returns it as an error."""
    crash = Crash(
        f"hfcount crashed: {type(error).__name__}: {printable(str(error))}. This is a mistake of hfcount's own: please"
        " report it with the command and its --debug output."
    )
    if "--debug" in sys.argv:  # even where the command line could not be read
        from traceback import format_exception

        lines = "".join(format_exception(error)).splitlines()
        click.echo("\n".join(printable(line, None) for line in lines), err=True)
    click.echo(str(crash), err=True)
    return crash


def ended(command: Callable[[], int | None]) -> int:
    """Runs a command and returns its exit code; errors become one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # not every terminal can show a formula
    try:
        return command() or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return 130
    except (ReaderGone, SystemExit) as gone:
        if isinstance(gone, SystemExit) and gone.code != 1:  # which is what click makes of a broken pipe
            raise
        return 0
    except HfcountError as error:
        click.echo(f"Error: {error}", err=True)
        return 2 if isinstance(error, SettingsError) else 3
    except Exception as error:
        if not (isinstance(error, OSError) and error.errno == errno.ENOSPC):
            crashed(error)
        else:
            click.echo(f"Error: the output could not be written: {error.strerror}", err=True)
    return 3
