"""Prints output, writes files, and turns errors and crashes into exit codes."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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


class WrongUsage(Exception):
    """Arguments that do not go together; click shows it with the usage of the command."""


class _NotWritten(HfcountError):
    """The output or a file could not be written."""


def show(format: Format, reports: "Sequence[Report]") -> bool:
    """Prints reports; returns False if the output is closed."""
    return said(lambda: format.render(reports))


def said(render: Callable[[], str]) -> bool:
    """Prints the rendered text; returns False if the output is closed."""
    try:
        text = writable(render(), sys.stdout.encoding or "utf-8")
        if text:
            _print(text)
    except BrokenPipeError:
        return False
    except OSError as error:
        raise _NotWritten(f"the report could not be written: {error.strerror}") from None
    return True


def _print(text: str) -> None:
    """Prints a text with the colours that its format has decided on."""
    if os.name == "nt":  # whose older consoles show no colours unless click translates them
        import click

        click.echo(text, color=True)
    else:
        print(text, flush=True)


def note(text: str) -> None:
    """Prints a line on standard error."""
    print(text, file=sys.stderr, flush=True)


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


def command_line() -> str:
    """The command that runs, as it is typed."""
    import shlex

    return shlex.join(["hfcount", *sys.argv[1:]])


def crashed(error: Exception) -> Crash:
    """Reports a crash on standard error, with a traceback under --debug; returns it as an error."""
    crash = Crash(
        f"hfcount crashed: {type(error).__name__}: {printable(str(error))}. This is a mistake of hfcount's own: please"
        " report it with the command and its --debug output."
    )
    if "--debug" in sys.argv:  # even where the command line could not be read
        from traceback import format_exception

        lines = "".join(format_exception(error)).splitlines()
        note("\n".join(printable(line, None) for line in lines))
    note(str(crash))
    return crash


def ended(command: Callable[[], int | None]) -> int:
    """Runs a command and returns its exit code; errors become one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # not every terminal can show a formula
    try:
        return command() or 0
    except (ReaderGone, SystemExit) as gone:
        if isinstance(gone, SystemExit) and gone.code != 1:  # which is what click makes of a broken pipe
            raise
        return 0
    except HfcountError as error:
        note(f"Error: {error}")
        return 2 if isinstance(error, SettingsError) else 3
    except Exception as error:
        return _code_of(error)


def _code_of(error: Exception) -> int:
    """Says what an error of click, of the output or of hfcount's own is, and returns the exit code."""
    if "click" in sys.modules:
        import click

        if isinstance(error, click.ClickException):
            error.show()
            return error.exit_code
        if isinstance(error, click.Abort):
            return 130
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EPIPE:
        return 0
    if number == errno.ENOSPC:
        note(f"Error: the output could not be written: {os.strerror(errno.ENOSPC)}")
    else:
        crashed(error)
    return 3
