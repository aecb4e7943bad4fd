"""Inspects one checkpoint from MODEL to Report: opens it, chooses its form, compares, and reports."""

import re
from collections.abc import Sequence
from time import monotonic

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.examine import examine, with_values
from hfcount.checkpoints.forms import form_of, has_base
from hfcount.checkpoints.inspection import Inspection, Options
from hfcount.checkpoints.report import report_of
from hfcount.errors import BadSetting, FetchError, HfcountError, UnknownArchitecture
from hfcount.fetcher import Request, fetch, finish, opened
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import PIPELINE_LAYOUT
from hfcount.fetcher.location import Place
from hfcount.formats.json import parse_object
from hfcount.mapper.whatif import Changes, lists
from hfcount.options import AskedDepth
from hfcount.report.figures import Failure
from hfcount.report.model import Report
from hfcount.text import printable

__all__ = ["AskedDepth", "Options", "examine", "failed", "inspect", "report_of", "what_ifs"]


def inspect(request: Request, options: Options | None = None) -> Report:
    """Inspects one checkpoint and reports.

    Raises:
        FetchError: the documents could not be read, or not be recorded.
        UnknownArchitecture: no family describes the config.
    """
    options = (options or Options())._replace(until=monotonic() + request.timeout)
    documents = opened(request)
    options.opened(documents)
    _check_target(request, documents)
    if options.settings is not None and options.settings.base is not None and not has_base(documents, request, options):
        request, options = request.replace(base=None), _without_base(options)
    result = form_of(documents, request, options).inspect(documents, request, options)
    if isinstance(result, Report):  # of a pipeline
        return result
    if request.target is not None:
        from hfcount.checkpoints.drafts import with_target  # rarely asked for

        result = with_target(result, request)
    return report_of(with_values(result, request, options))


def _without_base(options: Options) -> Options:
    """The options without the base of a settings file, which is of other checkpoints."""
    return options._replace(settings=options.settings and options.settings.without(("base",)))


def _check_target(request: Request, documents: Documents | Place) -> None:
    """Raises FetchError, and closes the documents, where --target is given for what is no draft."""
    if request.target is None or (isinstance(documents, Documents) and documents.layout is not PIPELINE_LAYOUT):
        return
    finish(request, documents) if isinstance(documents, Documents) else documents.reader.close()
    raise FetchError("BadName", f"{printable(request.model)} is not a draft with a config.json, which --target needs.")


def what_ifs(request: Request, options: Options, changes: Sequence[Changes]) -> list[Report]:
    """One checkpoint as published, then with each of the changes to its config; counted, not compared.

    Raises:
        FetchError: the documents could not be read.
        UnknownArchitecture: no family describes the config.
        BadSetting: a key that is set is neither in the config nor read by its family, or its value is impossible.
    """
    documents, options = fetch(request), _without_base(options)._replace(depth="config")
    if documents.layout is PIPELINE_LAYOUT:
        finish(request, documents)
        raise BadSetting(f"{printable(documents.model)} is a pipeline of several models: name one with --subfolder.")
    published = examine(documents, options)
    variants = [_changed(documents, options, change, published.blueprint) for change in changes]
    finish(request, documents)
    return [report_of(inspection) for inspection in (published, *variants)]


def _changed(documents: Documents, options: Options, changes: Changes, published: Blueprint | None) -> Inspection:
    """The checkpoint with changes to its config; raises BadSetting if it can no longer be built or run."""
    try:
        inspection = examine(documents, options, changes)
    except UnknownArchitecture as error:
        raise BadSetting(str(error)) from None
    blueprint = inspection.blueprint
    if published and blueprint is None:
        message = inspection.outcome.findings[0].message
        raise BadSetting(f"{message}{_list_to_set(documents, options, changes, message)}")
    if published and blueprint and blueprint.problems and not published.problems:
        raise BadSetting(str(blueprint.problems[0]))
    return inspection


def _list_to_set(documents: Documents, options: Options, changes: Changes, message: str) -> str:
    """Suggests to set a list of the config too, such as one with an entry for each layer, if the message names it."""
    for key in lists(parse_object(documents.config, endless=True)):
        if key not in changes and re.search(rf"(?<![\w.]){re.escape(key)}\b", message):
            inspection = examine(documents, options, {**changes, key: None})
            if inspection.blueprint and not inspection.blueprint.problems:
                return f" Or also set {printable(key)}=null, for its default."
    return ""


def failed(model: str, error: HfcountError) -> Report:
    """The report of a run that could not read the documents."""
    return Report(model=printable(model), verdict="unverified", error=Failure(kind=error.kind, message=str(error)))
