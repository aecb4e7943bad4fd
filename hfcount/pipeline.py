"""All steps from MODEL to report: documents, config, spec, blueprint, evidence, findings."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from hfcount.building import build
from hfcount.errors import (
    BadSetting,
    ConfigError,
    DocumentError,
    HfcountError,
    UnknownArchitecture,
    UnknownClass,
)
from hfcount.fetcher import Request, fetch, finish
from hfcount.fetcher.fixtures import record
from hfcount.fetcher.interface import CONFIG, INDEX, Documents
from hfcount.fetcher.weights import Weights, recorded_sizes
from hfcount.formats.json import found_endless, may_be_endless, parse_object
from hfcount.looking import look_at
from hfcount.mapper import Config
from hfcount.mapper.whatif import Changes, changed, check_known, written
from hfcount.plan import Blueprint
from hfcount.quantization.announcements import SIDE_FILES, announcements
from hfcount.report.build import compose
from hfcount.report.choices import AskedDepth
from hfcount.report.inspection import Inspection, Options
from hfcount.report.model import Failure, Report
from hfcount.text import printable
from hfcount.verifier import explain
from hfcount.verifier.findings import DIFFERING, Outcome, finding_of

__all__ = ["AskedDepth", "Options", "examine", "failed", "inspect", "what_ifs"]


_SEARCH = 300.0  # seconds of a search for causes in documents that are at hand


def inspect(request: Request, options: Options | None = None) -> Report:
    """One checkpoint, from its name to the report.

    Raises:
        FetchError: the documents could not be read, or not be recorded.
        UnknownArchitecture: no family describes the config.
    """
    until = monotonic() + request.timeout
    run = Inspection(fetch(request), options or Options(), until=until)
    try:
        with _no_collection():
            _look(run)
    finally:
        finish(request, run.documents, run.headers, run.samples)
        if run.options.save is not None:
            sizes = recorded_sizes(run.documents, run.weights or Weights())
            record(run.documents, run.headers, run.samples, sizes, run.options.save)
    return compose(run)


def examine(documents: Documents, options: Options) -> Report:
    """The report of documents that are at hand; raises as `inspect` does, but for FetchError."""
    return compose(look(documents, options))


def look(documents: Documents, options: Options) -> Inspection:
    """All that is found in documents that are at hand; raises as `examine` does."""
    run = Inspection(documents, options, until=monotonic() + _SEARCH)
    with _no_collection():
        _look(run)
    return run


def what_ifs(request: Request, options: Options, changes: Sequence[Changes]) -> list[Report]:
    """One checkpoint as published, then with each of the changes to its config; counted, not compared.

    Raises:
        FetchError: the documents could not be read.
        UnknownArchitecture: no family describes the config.
        BadSetting: a key that is set is neither in the config nor read by its family, or its value is impossible.
    """
    documents, options = fetch(request), replace(options, depth="config")
    runs = [Inspection(documents, options, change) for change in ({}, *changes)]
    for run in runs:
        try:
            _look(run)
        except UnknownArchitecture as error:
            if run is runs[0]:
                raise
            raise BadSetting(str(error)) from None
        published, changed_one = runs[0].blueprint, run.blueprint
        if published and (changed_one is None or (changed_one.problems and not published.problems)):
            raise BadSetting(str(changed_one.problems[0]) if changed_one else run.outcome.findings[0].message)
    finish(request, documents)
    return [compose(run) for run in runs]


def failed(model: str, error: HfcountError) -> Report:
    """The report of a run that could not read the documents."""
    return Report(model=printable(model), verdict="unverified", error=Failure(kind=error.kind, message=str(error)))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switches off garbage collection, which would scan a hundred thousand tuples repeatedly and find no garbage."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _look(run: Inspection) -> None:
    """Reads the config, the index and the headers as far as needed; a malformed document becomes a finding.

    Raises:
        UnknownArchitecture: no family describes the config.
    """
    document, changes = run.documents.config, run.changes
    try:
        values = parse_object(document, endless=True)  # transformers writes Infinity, of time steps
        given = changed(values, changes)
        endless = found_endless(values) if run.documents.source != "memory" and may_be_endless(document) else None
        run.announced = announcements(given, _beside(run.documents))
        where = f"{document.where} with {written(changes)}" if changes else document.where
        config = Config(given, where=where, chosen=changes)
        run.blueprint = _blueprint(config, given, run.options)
        check_known(config, document.where, values, changes)  # only now have all keys been read
        look_at(run, run.blueprint)
        _doubt_code(run, run.blueprint)
        if not run.blueprint.derived_with:  # causes are proven by blueprints of other configs
            explain(run.outcome, given, run.blueprint, run.fitting_index, run.shards, run.announced, until=run.until)
        if endless:
            from hfcount.verifier.rules.hf111_number_not_json import NumberNotJson

            run.outcome.report(NumberNotJson(key=endless[0], observed=endless[1], file=CONFIG))
        if run.options.load.ranks:
            _share(run, run.blueprint)
        run.outcome.findings.sort(key=lambda one: one.severity != "error")  # the cause is an error, a note never
    except (DocumentError, ConfigError, UnknownClass) as error:
        if isinstance(error, UnknownClass):
            run.unseen = Failure(kind=error.kind, message="the class that config.json names is not described here")
        elif error.built:
            run.unseen = Failure(kind=error.kind, message="what transformers builds of this config is not known here")
        name = Path(document.where).name if run.documents.alone else INDEX if run.blueprint else CONFIG
        run.outcome.report(finding_of(error, name))


def _blueprint(config: Config, values: Mapping[str, Any], options: Options) -> Blueprint:
    """The blueprint of a family or, where none describes all of the model, of what the options name."""
    known = None
    try:
        known = build(config)
    except UnknownArchitecture as error:
        if options.derive_with is None or isinstance(error, UnknownClass):
            raise
    if known and not (known.asides and options.derive_with):
        return known
    from hfcount.derived import derived  # which imports torch

    try:
        return derived(values, config.where)
    except UnknownArchitecture:
        if known is None:
            raise
    return known


def _doubt_code(run: Inspection, blueprint: Blueprint) -> None:
    """Leaves a blueprint beside code of the repo's own where nothing that was read is as it says.

    Raises:
        UnknownClass: that this code may build another model.
    """
    if blueprint.coded and (run.depth == "config" or run.outcome.has(*DIFFERING)):
        run.blueprint, run.outcome = None, Outcome()
        raise blueprint.coded


def _share(run: Inspection, blueprint: Blueprint) -> None:
    """Looks at whether the ranks that are asked for can share the model."""
    from hfcount.sharding.obstacles import Sharing  # rarely asked for
    from hfcount.verifier.divisible import check_ranks

    check_ranks(Sharing(blueprint, run.announced), run.options.load.ranks, run.outcome)


def _beside(documents: Documents) -> dict[str, dict[str, Any]]:
    """The objects in files beside the config that may announce a quantisation; one that is malformed announces none."""
    found = {}
    for name in SIDE_FILES:
        if document := documents.companions.get(name):
            with suppress(DocumentError):
                found[name] = parse_object(document)
    return found
