"""The command line: the only module that prints or exits."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import click

from hfcount.choices import AskedDepth, DerivedWith, Extra
from hfcount.cli import asked, files
from hfcount.cli import options as read
from hfcount.cli.help import EPILOG
from hfcount.cli.output import ReaderGone, crashed, ended, show, summarised
from hfcount.cli.serving import serving
from hfcount.cli.shown import Shown
from hfcount.errors import BadSetting, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.interface import LONGEST, early
from hfcount.fetcher.names import public
from hfcount.reporters import FORMATS, OUTPUTS, Format
from hfcount.reporters.progress import Bar

_BRIEF = Format("brief", "for --quiet")

if TYPE_CHECKING:
    from hfcount.cli.files import Wanted
    from hfcount.inspection import Options
    from hfcount.mapper.whatif import Changes
    from hfcount.report.model import Report


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("models", nargs=-1, metavar="MODEL...", shell_complete=read.some_file)
@click.option("--revision", metavar="REV", help="Branch, tag or commit.")
@click.option("--subfolder", metavar="DIR", help="A folder of the repo.")
@click.option(
    "--fixtures", type=click.Path(path_type=Path), metavar="DIR", help="Read DIR/<org>/<name>/ instead of the Hub."
)
@click.option("--all", "everything", is_flag=True, help="With --fixtures: every checkpoint below DIR.")
@click.option(
    "--recursive", type=click.Path(path_type=Path), metavar="DIR", help="Every checkpoint below a local folder."
)
@click.option(
    "--list",
    "listed",
    type=str,
    multiple=True,
    metavar="FILE",
    shell_complete=read.some_file,
    callback=read.listed,
    help="Models from a file, one per line; - is standard input.",
)
@click.option(
    "--base",
    metavar="MODEL",
    shell_complete=read.some_file,
    help="What an adapter or a GGUF file was made of: a folder, a config.json or a repo.",
)
@click.option("--offline", is_flag=True, help="Use the Hugging Face cache only.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, LONGEST, min_open=True),
    default=300,
    show_default=True,
    metavar="S",
    help="Time limit in seconds for all requests of one MODEL, and for the search for causes.",
)
@click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
@click.option(
    "--depth",
    type=click.Choice(get_args(AskedDepth)),
    default="auto",
    show_default=True,
    help="How far to look: count only, compare the index, or compare every header.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="; ".join(f"{name} is {one.purpose}" for name, one in FORMATS.items()) + ".",
)
@click.option("-q", "--quiet", is_flag=True, help="Print one line per model: its verdict.")
@click.option(
    "--derive-with",
    type=click.Choice(get_args(DerivedWith)),
    callback=read.installed,
    help="Library to ask for model types that hfcount does not describe.",
)
@click.option(
    "--formula", is_flag=True, help="Print the parameter formula by component, by kind of layer and in total."
)
@click.option("--tensors", is_flag=True, help="List every tensor that the config describes, folded into rows.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=read.settings,
    help="Also count the model with this config value (repeatable; a KEY given twice makes two what-ifs).",
)
@click.option(
    "--quantize",
    "schemes",
    multiple=True,
    metavar="SCHEME",
    callback=read.schemes,
    help="Also count its size in this quantisation: fp8, awq, gptq, nvfp4, mxfp4, nf4, mlx-4 ... (repeatable).",
)
@serving
@click.option(
    "--output",
    "outputs",
    multiple=True,
    metavar="FILE",
    shell_complete=read.some_file,
    callback=files.outputs,
    help=f"Also write a file, by its suffix or as FORMAT:FILE (repeatable): {', '.join(OUTPUTS)}.",
)
@click.option(
    "--plot",
    metavar="FILE",
    callback=files.figure,
    shell_complete=read.some_file,
    help="Draw the components of all models: .svg, .png or .pdf.",
)
@click.option("--dark", is_flag=True, help="Draw it on a dark background.")
@click.option(
    "--html",
    "page",
    metavar="FILE",
    callback=files.page,
    shell_complete=read.some_file,
    help="Write a self-contained HTML page.",
)
@click.option("--save", type=click.Path(path_type=Path), metavar="DIR", help="Record what is read, for --fixtures.")
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE",
    callback=read.codes,
    shell_complete=read.some_rule,
    help="Waive an error; the report still lists it (repeatable).",
)
@click.option(
    "--strict", is_flag=True, cls=read.NamingRules, help="Upgrade every note but {informational} to an error."
)
@click.option("--debug", is_flag=True, help="Show the traceback if hfcount crashes.")
@read.printing("--clear-cache", read.cleared, "Empty hfcount's cache.")
@click.option(
    "--families",
    is_flag=False,
    flag_value="",
    is_eager=True,
    expose_value=False,
    metavar="[TYPE]",
    shell_complete=read.some_type,
    callback=read.families,
    help="List the architectures, or describe one by model_type or class.",
)
@click.option(
    "--rules",
    is_flag=False,
    flag_value="",
    is_eager=True,
    expose_value=False,
    metavar="[CODE]",
    shell_complete=read.some_rule,
    callback=read.rules,
    help="Explain all findings, or one by its code.",
)
@read.printing("--schema", read.schema, "Print the JSON Schema of --format json.")
@click.version_option(package_name="hfcount", prog_name="hfcount", message="%(prog)s %(version)s")
def main(
    models: tuple[str, ...],
    *,
    revision: str | None,
    subfolder: str | None,
    fixtures: Path | None,
    everything: bool,
    recursive: Path | None,
    listed: list[str],
    base: str | None,
    offline: bool,
    timeout: float,
    no_cache: bool,
    depth: AskedDepth,
    style: str,
    quiet: bool,
    derive_with: DerivedWith | None,
    formula: bool,
    tensors: bool,
    settings: "Sequence[Changes]",
    schemes: "Sequence[Changes]",
    load: "Mapping[str, Any]",
    outputs: "list[Wanted]",
    plot: "list[Wanted]",
    dark: bool,
    page: "list[Wanted]",
    save: Path | None,
    allow: frozenset[str],
    strict: bool,
    debug: bool,
) -> int:
    """Verify that a checkpoint holds exactly what its config says.

    Each MODEL is a local folder or config.json if there is one, else a repo on the Hugging Face Hub: org/name,
    org/name@REV, hf://org/name@REV/DIR or the address of its page. config.json and model.safetensors.index.json are
    read, every tensor is derived from the config, and the two are compared to the byte; where the index does not settle
    it, the headers of the safetensors files are read, too. No weights are downloaded.
    """
    del debug  # whoever reports a crash looks for it
    format = _format(style, quiet)
    try:
        models = asked.models((*models, *listed), recursive, fixtures, everything, bool(revision or subfolder))
    except HfcountError as error:
        from hfcount.pipeline import failed

        show(format, [failed(str(recursive or fixtures), error)])
        return 3
    if dark and not plot:
        raise click.UsageError("--dark goes with --plot.")
    settings = asked.what_ifs(settings, schemes, compared=depth in ("index", "headers") or bool(save))
    if not models:
        raise click.UsageError("Name a MODEL, or --fixtures DIR --all. `hfcount --help` shows examples.")
    ahead = None if settings else early(depth)
    where = revision, subfolder, fixtures, offline, timeout, not no_cache
    requests = asked.requests(models, lambda model: Request(model, *where, headers=ahead, base=base))
    # All this is imported while the Hub is waited for.
    from hfcount.inspection import Options
    from hfcount.report.model import worst
    from hfcount.serving.cost import Workload
    from hfcount.verifier.policy import Policy

    fields: dict[Extra, bool] = {"tensors": tensors, "formula": formula, "layers": formula}
    pages = [one for one in (*outputs, *page) if one.kind == "html"]
    extras = [name for name, wanted in fields.items() if wanted or pages]
    shown = Shown(format, [name for name in extras if not fields[name]])
    with Bar(len(models)) as bar:
        options = Options(depth, Policy(allow, strict), save, extras, Workload(**load), bar.files, derive_with)
        for model, request in zip(models, requests, strict=True):
            bar.model(model)
            shown.add(_look(public(model), request, options, settings))
    shown.end()
    shown.write([*outputs, *plot, *page], pages, dark)
    if style == "github":
        summarised(shown.reports)
    if shown.gone:
        raise ReaderGone
    return worst([report.exit_code for report in shown.reports])


def _format(style: str, quiet: bool) -> Format:
    if quiet and style != "table":
        raise click.UsageError("--quiet is a format of its own, and goes without --format.")
    return _BRIEF if quiet else FORMATS[style]


def _look(
    model: str, request: Request | HfcountError, options: "Options", settings: "Sequence[Changes]"
) -> "Sequence[Report]":
    """The reports of one model, whatever comes of it."""
    from hfcount import pipeline

    if isinstance(request, HfcountError):
        return [pipeline.failed(model, request)]
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
