"""Verifies the checkpoints that a command line names, prints their reports and writes files.

Nothing here needs click: `plain` reads most command lines without it, and `main` the others.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfcount.checkpoints.settings import ProjectSettings
from hfcount.cli import requests as asked
from hfcount.cli.output import ReaderGone, WrongUsage, command_line, crashed, note, show, summarised
from hfcount.cli.report_stream import ReportStream
from hfcount.errors import BadSetting, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.interface import early
from hfcount.fetcher.model_names import public
from hfcount.options import AskedDepth, DerivedWith, Extra
from hfcount.record import Record, made
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
    from hfcount.cli.cards import CardFile
    from hfcount.cli.output_files import OutputFile
    from hfcount.fetcher.interface import Early
    from hfcount.mapper.whatif import Changes
    from hfcount.report.model import Report
    from hfcount.verifier.loaders.loader import Loader


class Arguments(Record):
    """The arguments of `hfcount verify`, and of `size`, `serve` and `gate`; the defaults are those of verify.

    Args:
        style: the format of what is printed, by its name in --format, or `brief` or `detailed`; None for the default.
        surface: the format that the command prints without one: `gate`, `serving`; None for a table.
        given: those of `depth`, `strict` and `no_config` that the command line gives.
        load: fields of Workload.
    """

    models: Sequence[str]
    style: str | None = None
    surface: str | None = None
    given: frozenset[str] = frozenset()
    revision: str | None = None
    subfolder: str | None = None
    fixtures: Path | None = None
    everything: bool = False
    below: bool = False
    listed: Sequence[str] = ()
    base: str | None = None
    target: str | None = None
    offline: bool = False
    timeout: float = 300
    no_cache: bool = False
    depth: AskedDepth = "auto"
    derive_with: DerivedWith | None = None
    formula: bool = False
    tensors: bool = False
    settings: "Sequence[Changes]" = ()
    schemes: "Sequence[Changes]" = ()
    load: Mapping[str, Any] = made(factory=dict)
    outputs: "Sequence[OutputFile]" = ()
    plot: "Sequence[OutputFile]" = ()
    dark: bool = False
    page: "Sequence[OutputFile]" = ()
    card: "CardFile | None" = None
    save: Path | None = None
    loaders: "Sequence[Loader]" = ()
    allow: frozenset[str] = frozenset()
    strict: bool = False
    config: Path | None = None
    no_config: bool = False


def run(arguments: Arguments) -> int:
    """Verifies the models, prints and writes what is asked for, and returns the exit code.

    Raises:
        WrongUsage: arguments do not go together.
        BadSetting: a what-if sets an unknown key, or a key to an impossible value.
        SettingsError: a settings file is wrong.
        ReaderGone: nobody reads the output any more.
    """
    format, files = _printed(arguments)
    format = _of_card(arguments, format)
    below, fixtures = arguments.below, arguments.fixtures
    models = (*asked.spelled_out(arguments.models, recorded=fixtures is not None), *arguments.listed)
    of_a_repo = bool(arguments.revision or arguments.subfolder)
    try:
        named = asked.models(models, below, fixtures, arguments.everything, of_a_repo)
    except HfcountError as error:
        from hfcount.checkpoints.inspect import failed

        show(format, [failed(str(fixtures), error)])
        return 3
    compared = arguments.depth in ("index", "headers", "data") or bool(arguments.save)
    settings = asked.what_ifs(arguments.settings, arguments.schemes, compared)
    _check(arguments, named, bool(settings))
    bar = Bar(len(named))
    request_for = _request_maker(arguments, _trees(models, below), bar, None if settings else early(arguments.depth))
    requests = asked.requests(named, request_for, _project_settings(arguments, bool(settings)))
    # The rest is imported while the first request is under way.
    from hfcount.report.model import worst

    pages = [file for file in files if file.kind == "html"]
    extras, unasked = _extras(arguments, bool(pages), format is FORMATS["html"])
    shown = ReportStream(format, unasked)
    with bar:
        options = _options(arguments, extras, bar)
        for model, wanted in zip(named, requests, strict=True):
            name = model if isinstance(model, str) else model.model
            bar.model(name)
            shown.add(_look(public(name), wanted.request, wanted.options(options), settings))
    shown.reports = _with_repairs(shown.reports, format)
    shown.end()
    _not_applied(shown.reports, arguments.formula)
    shown.write(files, pages, arguments.dark)
    if arguments.card and not arguments.card.write(partial(_cards, shown.reports)):
        shown.gone = True
    if format is FORMATS["github"]:
        summarised(shown.reports)
    if shown.gone:
        raise ReaderGone
    return worst([report.exit_code for report in shown.reports])


def _trees(models: Sequence[str], below: bool) -> Sequence[str]:
    """The folders below which --recursive looks; none without it."""
    return (models or (".",)) if below else ()


def _request_maker(
    arguments: Arguments, trees: Sequence[str], bar: Bar, headers: "Early | None"
) -> Callable[[str], Request]:
    """What makes the request for a model.

    Args:
        trees: the folders of --recursive.
        headers: which headers are read before the index is looked at.
    """
    where = arguments.revision, arguments.subfolder, arguments.fixtures, arguments.offline, arguments.timeout
    base, target = arguments.base, arguments.target

    def request_for(model: str) -> Request:
        tree = asked.tree_of(model, trees)
        fitting = base if base is None or tree is None or asked.takes_base(model) else None
        return Request(
            model,
            *where,
            not arguments.no_cache,
            headers=headers,
            base=fitting,
            target=target,
            tree=tree,
            waiting=bar.waiting,
        )

    return request_for


def _of_card(arguments: Arguments, format: Format) -> Format:
    """The format of what is printed; nothing if that is the card."""
    if arguments.card is None or not arguments.card.printed:
        return format
    if format is not FORMATS["table"] or arguments.surface:
        raise WrongUsage("Two formats are to be printed. Name a file for the card, as in --card card.yaml.")
    return _SILENT


def _cards(reports: "Sequence[Report]", as_markdown: bool) -> str:
    from hfcount.report.renderers import card

    made = [card.of_report(report, command_line()) for report in reports]
    return card.documents(made, as_markdown, [report.label for report in reports])


def _check(arguments: Arguments, named: Sequence[object], changed: bool) -> None:
    """Raises WrongUsage for arguments that do not go together.

    Args:
        changed: whether there are what-ifs.
    """
    if arguments.dark and not arguments.plot:
        raise WrongUsage("--dark goes with --plot.")
    if changed and arguments.target:
        raise WrongUsage("--target does not go with --set and --quantize.")
    if not named:
        raise WrongUsage(
            "Name a MODEL, such as a folder or org/name, or --fixtures DIR --all. `hfcount --help` shows examples."
        )
    if arguments.surface == "gate" and (changed or arguments.depth == "config"):
        raise WrongUsage("gate does not go with --set, --quantize and --depth config.")


def _project_settings(arguments: Arguments, changed: bool) -> ProjectSettings:
    """The settings files of the run, but for settings that the command line gives or that do not go with it."""
    further = {
        "depth": changed or arguments.depth != "auto",
        "loaders": bool(arguments.loaders),
        "base": arguments.base is not None,
    }
    fields = {*(arguments.given - {"no_config"}), *(name for name, wanted in further.items() if wanted)}
    return asked.project_settings(arguments.config, arguments.no_config, "no_config" in arguments.given, fields)


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
            note(f"{report.model}: hfcount has no formula for {what}. Ask for its base instead.")


def _extras(arguments: Arguments, pages: bool, page_printed: bool) -> tuple[list[Extra], list[Extra]]:
    """The extra fields of the reports, and those of them that nothing but a page to write needs."""
    wanted: Mapping[Extra, bool] = {
        "tensors": arguments.tensors,
        "formula": arguments.formula,
        "layers": arguments.formula,
    }
    extras = [name for name in wanted if wanted[name] or pages or page_printed]
    return extras, [] if page_printed else [name for name in extras if not wanted[name]]


def _options(arguments: Arguments, extras: Sequence[Extra], bar: Bar) -> "Options":
    """The options of all models, before a settings file."""
    from hfcount.checkpoints.inspection import Options
    from hfcount.serving.cost import Workload
    from hfcount.verifier.policy import Policy

    return Options(
        arguments.depth,
        Policy(arguments.allow, arguments.strict),
        arguments.save,
        extras,
        Workload(**arguments.load),
        bar.files,
        bar.bytes,
        arguments.derive_with,
        loaders=arguments.loaders,
    )


def _printed(arguments: Arguments) -> "tuple[Format, Sequence[OutputFile]]":
    """The format of standard output, and the files: one called `-` is what is printed."""
    files = [*arguments.outputs, *arguments.plot, *arguments.page]
    piped = [file for file in files if str(file.path) == "-"]
    if not piped:
        style = arguments.style or arguments.surface or "table"
        return _FLAGS.get(style) or FORMATS[style], files
    if arguments.style or len(piped) > 1:
        raise WrongUsage("Only one format can be printed. Write the other to a file, as in -o report.json.")
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
    except BadSetting:  # wrong for every model
        raise
    except HfcountError as error:
        return [pipeline.failed(request.model, error)]
    except Exception as error:  # the other models go on
        return [pipeline.failed(request.model, crashed(error))]
