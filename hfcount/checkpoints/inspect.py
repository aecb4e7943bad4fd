"""All steps from MODEL to report: documents, config, blueprint, evidence, findings, figures."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.dispatch import contained, is_contained, look_beside
from hfcount.checkpoints.examine import examine
from hfcount.checkpoints.inspection import Figures, Inspection, Options
from hfcount.checkpoints.report import compose
from hfcount.errors import BadSetting, FetchError, HfcountError, UnknownArchitecture
from hfcount.fetcher import Request, fetch, finish, opened
from hfcount.fetcher.fixtures import record
from hfcount.fetcher.interface import Documents, Reads
from hfcount.fetcher.layout import PIPELINE_LAYOUT
from hfcount.fetcher.location import Place
from hfcount.fetcher.weights import Weights, recorded_sizes
from hfcount.formats.json import Document, parse_object
from hfcount.mapper.whatif import Changes, lists
from hfcount.options import AskedDepth
from hfcount.report.figures import Failure
from hfcount.report.model import Report
from hfcount.serving.memory import costs
from hfcount.text import printable

if TYPE_CHECKING:
    from hfcount.serving.sharding.obstacles import Sharing

__all__ = ["AskedDepth", "Options", "examine", "failed", "inspect", "report_of", "what_ifs"]


def inspect(request: Request, options: Options | None = None) -> Report:
    """One checkpoint, from its name to the report.

    Raises:
        FetchError: the documents could not be read, or not be recorded.
        UnknownArchitecture: no family describes the config.
    """
    options, until = options or Options(), monotonic() + request.timeout
    documents = opened(request)
    options.opened(documents)
    if request.target is not None and (isinstance(documents, Place) or documents.layout is PIPELINE_LAYOUT):
        finish(request, documents) if isinstance(documents, Documents) else documents.reader.close()
        raise FetchError(
            "BadName", f"{printable(request.model)} is no draft with a config.json: --target goes with one."
        )
    if isinstance(documents, Documents) and documents.layout is PIPELINE_LAYOUT:
        return _pipeline(documents, request, options, until)
    if isinstance(documents, Place) or is_contained(documents, request, options):
        held = _fitted(contained(documents, request, options.of_headers), request)
        return report_of(_with_values(held, request, options))
    reads, found = Reads(documents.shards), Weights()
    try:
        read = partial(_base, request, documents.source)
        inspection = examine(replace(documents, shards=reads, base=read), options.of_headers, until=until)
        found = inspection.evidence.weights or found
        inspection = look_beside(documents.place, request, inspection)
    finally:
        finish(request, documents, reads.headers, reads.samples, reads.pickled)
        if options.save is not None:
            sizes = recorded_sizes(documents, found)
            record(documents, reads.headers, reads.samples, sizes, options.save, reads.pickled)
    return report_of(_with_values(_fitted(inspection, request), request, options))


def _fitted(inspection: Inspection, request: Request) -> Inspection:
    if request.target is None:
        return inspection
    from hfcount.checkpoints.drafts import fitted  # rarely asked for

    return fitted(inspection, request)


def _base(request: Request, source: str, named: str, unasked: bool) -> Document | None:
    """The config of the model that a config names; a local folder asks nothing of the Hub unasked."""
    from hfcount.fetcher.base_config import base_config  # few name one

    if request.base is not None:
        return base_config(request.base, request)
    return base_config(named, request, trusted=False) if unasked and source not in ("folder", "memory") else None


def _with_values(inspection: Inspection, request: Request, options: Options) -> Inspection:
    if options.depth != "data":
        return inspection
    from hfcount.checkpoints.data.inspect import with_values  # rarely asked for

    return with_values(request, inspection._replace(options=options))


def _pipeline(documents: Documents, request: Request, options: Options, until: float) -> Report:
    """A repo of several models, each inspected as one by itself."""
    from hfcount.checkpoints.pipeline.inspect import inspect as inspected  # few repos hold several

    def judged(part: Documents, settings: Options, asked: Request) -> Report:
        inspection = _with_values(examine(part, settings.of_headers, until=until), asked, settings)
        outcome = inspection.outcome  # diffusers loads every part in the dtype that it is asked for
        outcome.findings = [finding for finding in outcome.findings if finding.code != "HF302"]
        return report_of(inspection)

    return inspected(documents, request, options, judged)


def what_ifs(request: Request, options: Options, changes: Sequence[Changes]) -> list[Report]:
    """One checkpoint as published, then with each of the changes to its config; counted, not compared.

    Raises:
        FetchError: the documents could not be read.
        UnknownArchitecture: no family describes the config.
        BadSetting: a key that is set is neither in the config nor read by its family, or its value is impossible.
    """
    documents, options = fetch(request), options._replace(depth="config")
    if documents.layout is PIPELINE_LAYOUT:
        finish(request, documents)
        raise BadSetting(f"{printable(documents.model)} is a pipeline of several models: name one with --subfolder.")
    published = examine(documents, options)
    changed_ones = [_changed(documents, options, change, published.blueprint) for change in changes]
    finish(request, documents)
    return [report_of(one) for one in (published, *changed_ones)]


def _changed(documents: Documents, options: Options, changes: Changes, published: Blueprint | None) -> Inspection:
    """The checkpoint with changes to its config; raises BadSetting if it can no longer be built or run."""
    try:
        inspection = examine(documents, options, changes)
    except UnknownArchitecture as error:
        raise BadSetting(str(error)) from None
    blueprint = inspection.blueprint
    if published and blueprint is None:
        message = inspection.outcome.findings[0].message
        raise BadSetting(f"{message}{_with_the_list(documents, options, changes, message)}")
    if published and blueprint and blueprint.problems and not published.problems:
        raise BadSetting(str(blueprint.problems[0]))
    return inspection


def _with_the_list(documents: Documents, options: Options, changes: Changes, message: str) -> str:
    """What to set besides, where a list of the config, such as one with an entry for each layer, is in the way."""
    for key in lists(parse_object(documents.config, endless=True)):
        if key not in changes and re.search(rf"(?<![\w.]){re.escape(key)}\b", message):
            inspection = examine(documents, options, {**changes, key: None})
            if inspection.blueprint and not inspection.blueprint.problems:
                return f" Or set {printable(key)}=null too, and it takes its default."
    return ""


def failed(model: str, error: HfcountError) -> Report:
    """The report of a run that could not read the documents."""
    return Report(model=printable(model), verdict="unverified", error=Failure(kind=error.kind, message=str(error)))


def report_of(inspection: Inspection) -> Report:
    """The report of what was found, with all that follows from it."""
    blueprint, untied = inspection.blueprint, inspection.outcome.untied
    if blueprint and untied:  # it is counted as it is loaded
        blueprint = replace(blueprint, untied=untied)
        inspection = inspection._replace(blueprint=blueprint)
    if blueprint is None:
        return compose(inspection, None)
    if not inspection.options.load.asked:
        return compose(inspection, _figures(inspection, blueprint, None))
    from hfcount.serving.sharding.obstacles import Sharing  # rarely asked for

    sharing = Sharing(blueprint, inspection.announced)
    return compose(*_served(inspection, _figures(inspection, blueprint, sharing), sharing))


def _served(inspection: Inspection, figures: Figures, sharing: "Sharing") -> tuple[Inspection, Figures]:
    """The same with the answers to what was asked about serving, and the findings that say why not."""
    from hfcount.serving.answers import answers

    options, outcome = inspection.options, inspection.outcome
    engines = inspection.evidence.container != "gguf"  # which those that are known do not serve
    serving, refusals = answers(sharing, figures.memory, options.load, options.policy, inspection.limit, engines)
    findings = sorted([*outcome.findings, *refusals], key=lambda one: one.severity != "error")
    return inspection._replace(outcome=replace(outcome, findings=findings)), figures._replace(serving=serving)


def _figures(inspection: Inspection, blueprint: Blueprint, sharing: "Sharing | None") -> Figures:
    """Bytes, costs and, where they are asked for, formulas."""
    announced, evidence, outcome = inspection.announced, inspection.evidence, inspection.outcome
    stored = None
    if announced:
        from hfcount.serving.storage import storage  # most checkpoints are not quantised

        stored = storage(blueprint, announced, outcome)
    total_size = evidence.index.total_size if evidence.index else None
    load = inspection.options.load
    held = evidence.contained.bytes if evidence.contained else None
    memory, compute = costs(
        blueprint,
        load,
        announced,
        dtypes=outcome.dtypes,
        held=held,
        total_size=total_size,
        storage=stored,
        sharing=sharing,
    )
    extras = inspection.options.extras
    if blueprint.derived_with or not {"formula", "layers"}.intersection(extras):
        return Figures(memory=memory, compute=compute, storage=stored)
    from hfcount.checkpoints.formulas import closed_form, layer_kinds  # most runs do not need it

    formula = blueprint.formula()
    return Figures(
        memory=memory,
        compute=compute,
        storage=stored,
        formula=closed_form(formula) if "formula" in extras else None,
        layers=layer_kinds(formula) if "layers" in extras else None,
    )
