"""`hfcount diff A B`: what one checkpoint is to another."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from hfcount.cli import option_types as read
from hfcount.cli import requests, shared_options
from hfcount.cli.cards import CARD, CardFile
from hfcount.cli.option_groups import GroupedCommand, grouped
from hfcount.cli.output import ReaderGone, command_line, said, written
from hfcount.cli.output_files import STDOUT, OutputFile, output_file
from hfcount.fetcher import Request
from hfcount.fetcher.interface import early
from hfcount.options import AskedDepth, DerivedWith, Expected

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hfcount.checkpoints.data.difference import Difference
    from hfcount.diffing.model import Diff

_KINDS = ("json", "md", "html")
_FORMATS = ("table", "json", "markdown")

_EPILOG = """
\b
Examples:
  hfcount diff Qwen/Qwen3-8B-Base Qwen/Qwen3-8B   two repos
  hfcount diff org/base ./merged --expect merge --adapter ./adapter
  hfcount diff org/name@v1 org/name@main          two revisions
  hfcount diff ./before ./after --depth data      every value of local files
  hfcount diff ./before ./after --card card.yaml  what a pull request shows
  hfcount diff A B C --expect mergeable           can mergekit merge them?

\b
Exit codes: 0 the same structure, and with --depth data the same values; or it is
what --expect names. 1 they differ, or it is not that; 2 wrong usage; 3 a side
could not be read. --structure: values do not count.
"""


def _outputs(_context: click.Context, _option: click.Parameter, values: Sequence[str]) -> list[OutputFile]:
    return [output_file(value, _KINDS) for value in values]


_READ = (
    shared_options.FIXTURES,
    shared_options.OFFLINE,
    shared_options.NO_CACHE,
    shared_options.timeout("--timeout", help="Time limit in seconds for all requests of one side."),
)
_LOOK = (
    shared_options.depth("How far to look: configs, indexes, every header, or every value of local files."),
    click.option("--sample", is_flag=True, help="Also compare the first and last 64 KiB of each tensor, by ranges."),
    shared_options.DERIVE_WITH,
    click.option(
        "--expect",
        type=click.Choice(get_args(Expected)),
        help="Exit with 0 only if B is that: same (the same values), finetune (same structure, other values), cast,"
        " quantised, merge (only the tensors that --adapter changes differ), or mergeable (mergekit merges B, and each"
        " further model, with A).",
    ),
    click.option("--adapter", metavar="MODEL", help="The PEFT adapter that was merged into A, for --expect merge."),
    click.option(
        "--scale",
        type=float,
        metavar="X",
        help="For --expect merge: the factor with which the adapter was merged. Without it, any above 0 and up to 4.",
    ),
    click.option(
        "--allow-nan", is_flag=True, help="For --expect: B may hold NaN and infinite values that A does not have."
    ),
    click.option("--structure", is_flag=True, help="Values do not affect the exit code, even with --depth data."),
)
_SHOW = (
    click.option(
        "--format",
        "style",
        type=click.Choice(_FORMATS),
        default="table",
        show_default=True,
        help="table is for people; json for programs; markdown for a model card or a pull request.",
    ),
    shared_options.JSON,
    click.option("-q", "--quiet", is_flag=True, help="Print one line: how B derives from A."),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="FILE",
        shell_complete=read.some_file,
        callback=_outputs,
        help=f"Also write a file, by its suffix or as FORMAT:FILE (repeatable); FORMAT:- prints it instead:"
        f" {', '.join(_KINDS)}.",
    ),
    CARD,
)
_OTHER = (shared_options.DEBUG,)


@click.command(
    cls=GroupedCommand,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("models", nargs=-1, metavar="A B [C]...", shell_complete=read.some_file)
@grouped({"What to read": _READ, "How far to look": _LOOK, "What to show": _SHOW, "Other": _OTHER})
def command(
    models: tuple[str, ...],
    *,
    fixtures: Path | None,
    offline: bool,
    no_cache: bool,
    timeout: float,
    depth: AskedDepth,
    sample: bool,
    derive_with: DerivedWith | None,
    expect: Expected | None,
    adapter: str | None,
    scale: float | None,
    allow_nan: bool,
    structure: bool,
    style: str,
    as_json: bool,
    quiet: bool,
    outputs: list[OutputFile],
    card: CardFile | None,
    debug: bool,
) -> int:
    """Compare two checkpoints: how does B derive from A?

    A and B are folders, repos (org/name or org/name@REV) or recordings. Config keys are sorted by what they change.
    Tensors match even if they are renamed, joined, split or quantised. Values are compared by the checksums that the
    Hub lists; --sample and --depth data compare the bytes.
    """
    del debug  # whoever reports a crash looks for it
    _check(models, expect, adapter, scale)
    if allow_nan and expect is None:
        raise click.UsageError("--allow-nan needs --expect.")
    if len(models) > 2 and (outputs or card):
        raise click.UsageError("-o and --card are for two checkpoints. Compare A with each of the others by itself.")
    shown = _style(style, as_json, quiet, [*_printed(outputs), *(["card"] if card and card.printed else [])])
    where = None, None, fixtures, offline, timeout, not no_cache
    sides = [requests.side(Request(model, *where, headers=early(depth))) for model in models]
    from hfcount.checkpoints.data.difference import Difference
    from hfcount.checkpoints.inspection import Options
    from hfcount.diffing.run import DiffOptions, diff
    from hfcount.report.renderers.progress import Bar

    totals = Difference()
    with Bar(len(models)) as bar:
        options = Options(depth, progress=bar.files, reading=bar.bytes, derive_with=derive_with)
        wanted = DiffOptions(sample, expect, adapter, None, structure, allow_nan, scale, partial(_add, totals))
        results = [diff(sides[0], side, options, wanted) for side in sides[1:]]
    there = shown == "card" or said(lambda: _SEPARATORS.get(shown, "").join(_text(shown, one) for one in results))
    if card:
        there = card.write(partial(_card, results[0], totals)) and there
    return _finished(results, [output for output in outputs if output.path != STDOUT], there)


def _finished(results: "Sequence[Diff]", outputs: Sequence[OutputFile], there: bool) -> int:
    """Writes the files; returns the exit code. `there` says that somebody reads what was printed."""
    from hfcount.report.model import worst

    for output in outputs:
        written(output.path, partial(_file, output.kind, results[0]))
    if not there:
        raise ReaderGone
    return worst([result.exit_code for result in results])


_SEPARATORS = {"json": "\n", "brief": "\n", "table": "\n\n", "markdown": "\n\n"}
"""What stands between several comparisons."""


def _check(models: Sequence[str], expect: Expected | None, adapter: str | None, scale: float | None) -> None:
    """Raises click.UsageError for arguments that do not go together."""
    if len(models) < 2 or (len(models) > 2 and expect != "mergeable"):
        raise click.UsageError(
            "diff compares two: name A and B, such as two folders or org/name. Only --expect mergeable takes more."
        )
    if (adapter is None) is (expect == "merge"):
        raise click.UsageError("--expect merge and --adapter MODEL go together. Use both or neither.")
    if scale is not None and expect != "merge":
        raise click.UsageError("--scale needs --expect merge.")


def _add(totals: "Difference", differences: "Iterable[Difference]") -> None:
    for difference in differences:
        totals.add(difference)


def _card(result: "Diff", totals: "Difference", as_markdown: bool) -> str:
    from hfcount.diffing.card import text

    return text(result, totals if totals.elements else None, command_line(), as_markdown)


def _style(style: str, as_json: bool, quiet: bool, printed: Sequence[str]) -> str:
    """What is printed; raises click.UsageError for two formats.

    Args:
        printed: the formats that -o FORMAT:- and --card - ask for.
    """
    if as_json and style not in ("table", "json"):
        raise click.UsageError(f"--json means --format json, but --format {style} is also given. Leave one out.")
    if quiet and (as_json or style != "table"):
        raise click.UsageError("--quiet does not go with --format or --json.")
    asked = ["json"] if as_json else ["brief"] if quiet else [style] if style != "table" else []
    if len([*printed, *asked]) > 1:
        raise click.UsageError("Two formats would be printed. Name a file for one: -o diff.json, --card card.yaml.")
    return next(iter([*printed, *asked]), "table")


def _printed(outputs: Sequence[OutputFile]) -> list[str]:
    """The formats that -o FORMAT:- prints in place of the text."""
    return [output.kind for output in outputs if output.path == STDOUT]


def _text(style: str, diff: "Diff") -> str:
    from hfcount.diffing.terminal import render
    from hfcount.diffing.text import brief_line

    if style == "brief":
        return brief_line(diff)
    return render(diff) if style == "table" else _written(style, diff)


def _written(kind: str, diff: "Diff") -> str:
    """What a file of a kind, or a format of that name, has."""
    return diff.to_json() if kind == "json" else diff.to_html() if kind == "html" else diff.to_markdown()


def _file(kind: str, diff: "Diff") -> bytes:
    return f"{_written(kind, diff)}\n".encode()
