"""`hfcount lock MODEL` writes what a checkpoint is; `hfcount verify --locked FILE MODEL` holds a copy against that."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hfcount.cli import option_types as read
from hfcount.cli import requests, shared_options
from hfcount.cli.option_groups import GroupedCommand, grouped
from hfcount.cli.output import ReaderGone, said, written
from hfcount.cli.output_files import STDOUT, writable
from hfcount.diffing.locks.roles import LOCK
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.text import plural, printable

if TYPE_CHECKING:
    from hfcount.diffing.locks.model import LockCheck

_EPILOG = """
\b
Examples:
  hfcount lock ./my-checkpoint                          writes hfcount.lock
  hfcount lock org/name@REV -o name.lock                by the Hub's digests
  hfcount verify --locked hfcount.lock ./my-checkpoint  is it still the same?

\b
Exit codes: 0 the lock is written, whatever the verdict in it; 2 wrong usage; 3 a
file could not be read.
"""
_WITH = frozenset(
    "models locked revision subfolder offline timeout no_cache depth style as_json quiet no_config config debug".split()
)
"""Parameters of verify that go with --locked."""


def _output(_context: click.Context, _option: click.Parameter, value: Path) -> Path:
    return value if value == STDOUT else writable(value)


_READ = (
    click.option("--revision", metavar="REV", help="Branch, tag or commit."),
    click.option("--subfolder", metavar="DIR", help="A folder of the repo."),
    click.option(
        "--base", metavar="MODEL", shell_complete=read.some_file, help="The base model of an adapter or a GGUF file."
    ),
    shared_options.OFFLINE,
    shared_options.NO_CACHE,
    shared_options.timeout("--timeout", help="Time limit in seconds for all requests."),
)
_OUTPUT = (
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        default=Path(LOCK),
        callback=_output,
        show_default=True,
        metavar="FILE",
        shell_complete=read.some_file,
        help="The file to write; - prints the lock.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print nothing else."),
)


@click.command(
    cls=GroupedCommand,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("model", metavar="MODEL", shell_complete=read.some_file)
@grouped({"What to read": _READ, "What to write": _OUTPUT, "Other": (shared_options.DEBUG,)})
def command(
    model: str,
    *,
    revision: str | None,
    subfolder: str | None,
    base: str | None,
    offline: bool,
    no_cache: bool,
    timeout: float,
    output: Path,
    quiet: bool,
    debug: bool,
) -> int:
    """Write what a checkpoint is, as an in-toto statement that can be signed.

    The lock has the sha256 of every file, the config, every tensor's name, shape and dtype, the verdict, and what
    loaders make of it. Of a folder all files are read; of a repo on the Hub the digests are those that it lists.
    """
    del debug  # whoever reports a crash looks for it
    where = revision, subfolder, None, offline, timeout, not no_cache
    request = _requested(Request(model, *where, headers="all", base=base))
    from hfcount.checkpoints.inspection import Options
    from hfcount.diffing.locks import statement
    from hfcount.diffing.wrapping import wrapped
    from hfcount.report.renderers.progress import Bar

    with Bar(1) as bar:
        bar.model(model)
        lock = statement.locked(request, Options("headers", reading=bar.bytes), output)
    raw = statement.written(lock)
    if output == STDOUT:
        if not said(raw.decode().rstrip):
            raise ReaderGone
        return 0
    written(output, lambda: raw)
    if not quiet:
        files = lock["predicate"]["files"].values()
        listed = sum(file["sha256_from"] == "listing" for file in files)
        how = f" ({plural(listed, 'digest')} as the Hub lists them)" if listed else ""
        many = plural(len(lock["subject"]), "file")
        line = f"{printable(str(output))}: {many} locked{how}; the verdict is {lock['predicate']['verdict']}."
        if not said(partial(wrapped, [line])):
            raise ReaderGone
    return 0


def _requested(request: Request) -> Request:
    """The request as MODEL is understood; raises HfcountError where it names nothing."""
    resolved = requests.side(request)
    if isinstance(resolved, HfcountError):
        raise resolved
    return resolved


def check_locked(context: click.Context, path: Path) -> int:
    """Prints whether the MODEL of a run of verify is as it was locked, and returns the exit code.

    Raises:
        click.UsageError: other options are given, there is not one MODEL, or the lock cannot be used.
    """
    given = context.params
    style = read.chosen_format(context) or "table"
    _check(context, style)
    from hfcount.diffing.locks.compare import check
    from hfcount.diffing.locks.parse import LockError, read_lock
    from hfcount.report.renderers.progress import Bar

    try:
        lock = read_lock(path)
    except LockError as error:
        raise click.UsageError(str(error)) from None
    where = given["revision"], given["subfolder"], None, given["offline"], given["timeout"], not given["no_cache"]
    (model,) = given["models"]
    with Bar(1) as bar:
        bar.model(model)
        request, missing = Request(model, *where), None
        try:
            request = _requested(request)
        except HfcountError as error:
            missing = error
        result = check(request, lock, path, given["depth"], bar.bytes, missing)
    if not said(lambda: _text(style, result)):
        raise ReaderGone
    return result.exit_code


def _check(context: click.Context, style: str) -> None:
    """Raises click.UsageError for what does not go with --locked."""
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name not in _WITH and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--locked does not go with {max(param.opts, key=len)}. Run hfcount without it, too."
            )
    if context.obj or context.command.name != "main":
        raise click.UsageError("--locked goes with `hfcount verify` alone.")
    if style not in ("table", "json", "brief"):
        raise click.UsageError("--locked prints text, with --json JSON, or with -q one line.")
    if len(context.params["models"]) != 1:
        raise click.UsageError("--locked goes with one MODEL: a lock is of one checkpoint.")


def _text(style: str, result: "LockCheck") -> str:
    from hfcount.diffing.locks.text import brief_line, render

    if style == "json":
        return result.to_json()
    return brief_line(result) if style == "brief" else render(result)
