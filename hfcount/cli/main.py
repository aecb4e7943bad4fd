"""`hfcount [verify] MODEL...`: verifies checkpoints, and exits with the worst verdict."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hfcount.cli import option_types as read
from hfcount.cli import requests as asked
from hfcount.cli import shared_options
from hfcount.cli.cards import CardFile, command_line
from hfcount.cli.examples import EPILOG
from hfcount.cli.option_groups import GroupedCommand, grouped
from hfcount.cli.output import ReaderGone, crashed, ended, show, summarised
from hfcount.cli.report_stream import ReportStream
from hfcount.cli.verify_options import OPTIONS
from hfcount.errors import BadSetting, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.interface import early
from hfcount.fetcher.model_names import public
from hfcount.options import AskedDepth, DerivedWith, Extra
from hfcount.report.renderers import ALIASES, FORMATS, OUTPUTS, Format
from hfcount.report.renderers.progress import Bar

_DETAILED = Format("detailed", "for --details")
_SILENT = Format("silent", "for a picture on standard output")
_FLAGS = {
    "brief": Format("brief", "for --quiet"),
    "detailed": _DETAILED,
    "gate": Format("gate", "for hfcount gate"),
    "serving": Format("serving_alone", "for hfcount serve"),
}

if TYPE_CHECKING:
    from hfcount.checkpoints.inspection import Options
    from hfcount.cli.output_files import OutputFile
    from hfcount.mapper.whatif import Changes
    from hfcount.report.model import Report
    from hfcount.verifier.loaders.loader import Loader


@click.command(
    cls=GroupedCommand,
    epilog=EPILOG,
    options_metavar="[COMMAND] [OPTIONS]",
    context_settings={"help_option_names": ["--help"], "max_content_width": 100},
)
@click.argument("models", nargs=-1, metavar="MODEL...", shell_complete=read.some_model)
@grouped(OPTIONS)
def main(
    models: tuple[str, ...],
    *,
    revision: str | None,
    subfolder: str | None,
    fixtures: Path | None,
    everything: bool,
    below: bool,
    listed: list[str],
    base: str | None,
    target: str | None,
    offline: bool,
    timeout: float,
    no_cache: bool,
    depth: AskedDepth,
    derive_with: DerivedWith | None,
    formula: bool,
    tensors: bool,
    settings: "Sequence[Changes]",
    schemes: "Sequence[Changes]",
    load: "Mapping[str, Any]",
    outputs: "list[OutputFile]",
    plot: "list[OutputFile]",
    dark: bool,
    page: "list[OutputFile]",
    card: CardFile | None,
    save: Path | None,
    loaders: "Sequence[Loader]",
    allow: frozenset[str],
    strict: bool,
    locked: Path | None,
    config: Path | None,
    no_config: bool,
    debug: bool,
) -> int:
    """Check a checkpoint against its config: every tensor, and no other.

    Each MODEL is a local folder or file if there is one, otherwise a repo on the Hugging Face Hub: org/name,
    org/name@REV, hf://org/name@REV/DIR or the address of its page. hfcount derives every tensor from config.json, and
    compares names, shapes and sizes with the index and, where needed, with the headers of the weight files. It runs no
    code and downloads no weights.
    """
    del debug  # whoever reports a crash looks for it
    if locked is not None:
        from hfcount.cli.lock import check_locked  # most runs have none

        return check_locked(click.get_current_context(), locked)
    format, files = _printed(click.get_current_context(), [*outputs, *plot, *page])
    format = _of_card(card, format, click.get_current_context())
    models = (*asked.spelled_out(models, recorded=fixtures is not None), *listed)
    try:
        named = asked.models(models, below, fixtures, everything, bool(revision or subfolder))
    except HfcountError as error:
        from hfcount.checkpoints.inspect import failed

        show(format, [failed(str(fixtures), error)])
        return 3
    settings = asked.what_ifs(settings, schemes, compared=depth in ("index", "headers", "data") or bool(save))
    _check(named, bool(dark and not plot), bool(settings and target))
    _check_gate(bool(settings), depth)
    ahead = None if settings else early(depth)
    where = revision, subfolder, fixtures, offline, timeout, not no_cache
    trees, bar = _trees(models, below), Bar(len(named))

    def request_for(model: str) -> Request:
        tree = asked.tree_of(model, trees)
        fitting = base if base is None or tree is None or asked.takes_base(model) else None
        return Request(model, *where, headers=ahead, base=fitting, target=target, tree=tree, waiting=bar.waiting)

    given = _given(depth, bool(settings), loaders, base)
    requests = asked.requests(named, request_for, shared_options.project_settings(config, no_config, given))
    # Imported while the first request is under way.
    from hfcount.checkpoints.inspection import Options
    from hfcount.report.model import worst
    from hfcount.serving.cost import Workload
    from hfcount.verifier.policy import Policy

    pages = [file for file in files if file.kind == "html"]
    whole = bool(pages) or format is FORMATS["html"]
    extras, unasked = _extras({"tensors": tensors, "formula": formula, "layers": formula}, whole)
    unasked = [] if format is FORMATS["html"] else unasked
    shown = ReportStream(format, unasked)
    with bar:
        policy, workload = Policy(allow, strict), Workload(**load)
        options = Options(depth, policy, save, extras, workload, bar.files, bar.bytes, derive_with, loaders=loaders)
        for model, wanted in zip(named, requests, strict=True):
            name = model if isinstance(model, str) else model.model
            bar.model(name)
            shown.add(_look(public(name), wanted.request, wanted.options(options), settings))
    shown.reports = _with_repairs(shown.reports, format)
    shown.end()
    _not_applied(shown.reports, formula)
    shown.write(files, pages, dark)
    if card and not card.write(partial(_cards, shown.reports)):
        shown.gone = True
    if format is FORMATS["github"]:
        summarised(shown.reports)
    if shown.gone:
        raise ReaderGone
    return worst([report.exit_code for report in shown.reports])


def _trees(models: Sequence[str], below: bool) -> Sequence[str]:
    """The folders below which --recursive looks; none without it."""
    return (models or (".",)) if below else ()


def _of_card(card: CardFile | None, format: Format, context: click.Context) -> Format:
    """The format of what is printed; nothing if that is the card."""
    if card is None or not card.printed:
        return format
    if format is not FORMATS["table"] or context.obj:
        raise click.UsageError("Two formats are to be printed. Name a file for the card, as in --card card.yaml.")
    return _SILENT


def _cards(reports: "Sequence[Report]", as_markdown: bool) -> str:
    from hfcount.report.renderers import card

    made = [card.of_report(report, command_line()) for report in reports]
    return card.documents(made, as_markdown, [report.label for report in reports])


def _check(named: Sequence[object], dark_alone: bool, draft_changed: bool) -> None:
    """Raises click.UsageError for options that do not go together."""
    if dark_alone:
        raise click.UsageError("--dark goes with --plot.")
    if draft_changed:
        raise click.UsageError("--target does not go with --set and --quantize.")
    if not named:
        raise click.UsageError(
            "Name a MODEL, such as a folder or org/name, or --fixtures DIR --all. `hfcount --help` shows examples."
        )


def _check_gate(changed: bool, depth: str) -> None:
    """Raises click.UsageError for options with which `gate` would not compare what is published."""
    if click.get_current_context().obj == "gate" and (changed or depth == "config"):
        raise click.UsageError("gate does not go with --set, --quantize and --depth config.")


def _given(depth: str, changed: bool, loaders: "Sequence[Loader]", base: str | None) -> list[str]:
    """The settings that the command line gives, or that do not go with it: a file does not change them."""
    further = {"depth": changed or depth != "auto", "loaders": bool(loaders), "base": base is not None}
    return list({*shared_options.given("depth", "strict"), *(name for name, wanted in further.items() if wanted)})


def _with_repairs(reports: "list[Report]", format: Format) -> "list[Report]":
    """The reports, of one model with what `hfcount fix` has for it, if people read it."""
    if len(reports) != 1 or format not in (FORMATS["table"], _DETAILED):
        return reports
    return [_with_repair(report) for report in reports]


def _with_repair(report: "Report") -> "Report":
    """The report of a folder that differs, with what `hfcount fix` has for it."""
    if report.verdict != "mismatch" or report.source != "folder" or report.parts or report.overrides:
        return report

    from hfcount.repair.plan import planned

    try:
        plan = planned(Path(report.model))
    except (HfcountError, OSError):
        return report
    return report.replace(repair="proven" if plan.steps else "offered" if plan.offers else None)


def _not_applied(reports: "Sequence[Report]", formula: bool) -> None:
    """Notes models without a formula, if one was requested and no error explains it."""
    for report in reports if formula else ():
        if report.formula is None and report.container and not report.error:
            what = "an adapter" if report.container == "adapter" else "files whose metadata lacks sizes"
            click.echo(f"{report.model}: hfcount has no formula for {what}. Ask for its base instead.", err=True)


def _extras(asked: "Mapping[Extra, bool]", page: bool) -> tuple[list[Extra], list[Extra]]:
    """The requested extra fields, and those of them that only a page needs."""
    extras = [name for name, wanted in asked.items() if wanted or page]
    return extras, [name for name in extras if not asked[name]]


def _printed(context: click.Context, files: "list[OutputFile]") -> "tuple[Format, list[OutputFile]]":
    """The format of standard output, and the files: one called `-` is what is printed."""
    style = read.chosen_format(context)
    piped = [file for file in files if str(file.path) == "-"]
    if not piped:
        style = style or context.obj or "table"
        return _FLAGS.get(style) or FORMATS[style], files
    if style or len(piped) > 1:
        raise click.UsageError("Only one format can be printed. Write the other to a file, as in -o report.json.")
    kind = piped[0].kind
    if OUTPUTS[kind].module == "plots":
        return _SILENT, files
    return FORMATS[ALIASES.get(kind, kind)], [file for file in files if file not in piped]


def _look(
    model: str, request: Request | asked.Missing, options: "Options", settings: "Sequence[Changes]"
) -> "Sequence[Report]":
    """The reports of one model; errors become reports too."""
    from hfcount.checkpoints import inspect as pipeline

    if isinstance(request, asked.Missing):
        return [pipeline.failed(model, request.why)]
    try:
        return pipeline.what_ifs(request, options, settings) if settings else [pipeline.inspect(request, options)]
    except BadSetting as error:
        raise click.BadParameter(str(error), param_hint="--set") from None
    except HfcountError as error:
        return [pipeline.failed(request.model, error)]
    except Exception as error:  # the other models go on
        return [pipeline.failed(request.model, crashed(error))]


def run() -> NoReturn:
    """Runs the command and exits with its code."""
    sys.exit(ended(lambda: main(standalone_mode=False)))
