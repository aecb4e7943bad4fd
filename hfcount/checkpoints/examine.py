"""From documents to what is found in them: config, blueprint, evidence, findings."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.blueprints.libraries import Library, as_read
from hfcount.checkpoints.evidence import look
from hfcount.checkpoints.inspection import Evidence, Inspection, Options
from hfcount.errors import BadSetting, ConfigError, DocumentError, UnknownArchitecture, UnknownClass
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import CONFIG, INDEX, MODULES, MODULES_LAYOUT, OPEN_CLIP, PARAMS
from hfcount.formats.json import Document, found_endless, may_be_endless, parse_object
from hfcount.mapper import Config
from hfcount.mapper.quantization_config import SIDE_FILES, Announcement, announcements
from hfcount.mapper.whatif import Changes, changed, check_known, written
from hfcount.report.figures import Failure
from hfcount.text import printable
from hfcount.verifier import explain, verify
from hfcount.verifier.findings import DIFFERING, Outcome, finding_of

_NO_CONFIG = "{} has no config.json of its own, which --set and --quantize need. Name one."
_SEARCH = 300.0  # seconds of a search for causes in documents that are at hand


def examine(
    documents: Documents, options: Options, changes: Changes | None = None, until: float | None = None
) -> Inspection:
    """All that is found in documents that are at hand; a malformed one becomes a finding.

    Args:
        changes: config keys to set, with their values.
        until: when the search for causes is to end, on the clock of time.monotonic; None for 300 seconds from now.

    Raises:
        UnknownArchitecture: no family describes the config.
        BadSetting: a key that is set is neither in the config nor read by its family.
    """
    if (MODULES in documents.companions or documents.layout is MODULES_LAYOUT) and not documents.alone:
        from hfcount.checkpoints.sentence_transformers import inspect  # most checkpoints have no modules

        if inspect.takes(documents):
            if changes:
                raise BadSetting(_NO_CONFIG.format(printable(documents.model)))
            return inspect.examine(documents, options, partial(examine, until=until))
    return _examined(documents, options, changes or {}, until or monotonic() + _SEARCH)


def _examined(documents: Documents, options: Options, changes: Changes, until: float) -> Inspection:
    """The same of what is a model by its own config."""
    document = documents.config
    announced: Sequence[Announcement] = ()
    blueprint, limit, evidence, outcome = None, None, Evidence(), Outcome()
    try:
        published = parse_object(document, endless=True)  # transformers writes Infinity, of time steps
        values = _as_loaded(documents, changed(published, changes))
        library, documents, values = as_read(documents, values)  # None where families have the library's own names
        announced = announcements(values, _beside(documents))
        config = Config(values, where=_where(document, changes), chosen=changes)
        make = partial(library.built, config) if library else partial(_blueprint, config, values, options)
        further = changes or documents.loaded_as or (library and library.names(published))
        blueprint = make() if further else options.blueprints(document.raw, make)  # by what the document says alone
        check_known(config, document.where, published, changes)  # only now have all keys been read
        blueprint, evidence, outcome = _compared(library, documents, blueprint, announced, options)
        if blueprint.custom_code and (evidence.depth == "config" or outcome.has(*DIFFERING)):
            doubt, blueprint, outcome = blueprint.custom_code, None, Outcome()  # nothing that was read is as it says
            raise doubt
        evidence = _second_form(documents, blueprint, evidence, outcome)
        if not (blueprint.derived_with or library):  # causes are proven by blueprints of other configs
            explain(outcome, values, blueprint, evidence.fitting_index, evidence.shards, announced, until=until)
        if documents.source != "memory":
            _check_endless(document, published, outcome)
        if options.load.asked:
            from hfcount.serving.limits import limit_of  # rarely asked for

            limit = limit_of(blueprint, values)
        outcome.errors_first()  # the cause is an error, a note never
    except (DocumentError, ConfigError, UnknownClass) as error:
        if blueprint and isinstance(error, DocumentError):  # of the index: what the config alone says stays
            outcome = verify(blueprint)
        evidence = replace(evidence, unseen=_unseen(error) or evidence.unseen)
        name = Path(document.where).name if documents.alone else INDEX if blueprint else CONFIG
        outcome.report(finding_of(error, name))
    outcome.rename_file(CONFIG, documents.layout.config)
    outcome.rename_file(INDEX, documents.layout.listing)
    return Inspection(
        documents=documents,
        options=options,
        changes=changes,
        blueprint=blueprint,
        announced=announced,
        evidence=evidence,
        outcome=outcome,
        limit=limit,
    )


def _compared(
    library: Library | None,
    documents: Documents,
    blueprint: Blueprint,
    announced: Sequence[Announcement],
    options: Options,
) -> tuple[Blueprint, Evidence, Outcome]:
    """What was read and what it says of the blueprint, or of another that the names ask for; raises as `look` does."""
    evidence, outcome = look(documents, blueprint, announced, options)
    names = _unknown_names(outcome)
    if names and blueprint.spec.family == "timm":
        from hfcount.architectures.models.timm import check_older

        check_older(blueprint.spec, names, documents.config.where)
    if library and (other := library.otherwise(blueprint, names)):
        return other, *look(documents, other, announced, options)
    return blueprint, evidence, outcome


def _as_loaded(documents: Documents, values: dict[str, Any]) -> dict[str, Any]:
    """The config with the class that loads it, where that is named elsewhere."""
    return {**values, **documents.loaded_as} if documents.loaded_as else values


def _second_form(documents: Documents, blueprint: Blueprint, evidence: Evidence, outcome: Outcome) -> Evidence:
    """What was read with the model's second form, if it has one."""
    if documents.companions.keys().isdisjoint((PARAMS, OPEN_CLIP)):
        return evidence
    from hfcount.checkpoints.params_json import compare  # few have two

    return compare(documents, blueprint, evidence, outcome)


def _unknown_names(outcome: Outcome) -> Sequence[str]:
    """The names that are not the model's, where it lacks others; those of packed weights are folded."""
    if outcome.match:
        return outcome.match.unexpected if outcome.match.missing_count else ()
    found = next((finding.tensors for finding in outcome.findings if finding.code == "HF202"), ())
    return found if outcome.has("HF201") else ()


def _where(document: Document, changes: Changes) -> str:
    return f"{document.where} with {written(changes)}" if changes else document.where


def _blueprint(config: Config, values: Mapping[str, Any], options: Options) -> Blueprint:
    """The blueprint of a family or, where none describes all of the model, of what the options name."""
    known = None
    try:
        known = build(config)
    except UnknownArchitecture as error:
        if options.derive_with is None or isinstance(error, UnknownClass):
            raise
    if known and not (known.unmodeled and options.derive_with):
        return known
    from hfcount.blueprints.derive import derived  # which imports torch

    try:
        return derived(options.derive_with, values, config.where)
    except UnknownArchitecture:
        if known is None:
            raise
    return known


def _check_endless(document: Document, values: Mapping[str, Any], outcome: Outcome) -> None:
    """Looks for numbers that JSON does not have."""
    if may_be_endless(document) and (endless := found_endless(values)):
        from hfcount.verifier.rules.hf111_number_not_json import NumberNotJson

        outcome.report(NumberNotJson(key=endless[0], observed=endless[1], file=CONFIG))


def _unseen(error: DocumentError | ConfigError | UnknownClass) -> Failure | None:
    """Why a config of which a model may be built cannot be judged."""
    if isinstance(error, UnknownClass):
        return Failure(kind=error.kind, message="the class that config.json names is not described here")
    if error.built:
        return Failure(kind=error.kind, message="what transformers builds of this config is not known here")
    return None


def _beside(documents: Documents) -> dict[str, dict[str, Any]]:
    """The objects in files beside the config that may announce a quantisation; one that is malformed announces none."""
    objects = {}
    for name in SIDE_FILES:
        if document := documents.companions.get(name):
            with suppress(DocumentError):
                objects[name] = parse_object(document)
    return objects
