"""Inspects a checkpoint with a config.json: builds its blueprint, compares the weights, looks for causes."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.blueprints.libraries import Library, as_read
from hfcount.checkpoints.forms import CONTAINERS, PICKLE, SAFETENSORS, has_other_config, holds_pickles, weights_form
from hfcount.checkpoints.inspection import Evidence, Inspection, Model, Options
from hfcount.checkpoints.named_weights import as_named
from hfcount.errors import BadSetting, ConfigError, DocumentError, FetchError, UnknownArchitecture, UnknownClass
from hfcount.fetcher import Request, finish
from hfcount.fetcher.fixtures import record
from hfcount.fetcher.interface import Documents, Reads
from hfcount.fetcher.layout import CONFIG, INDEX, MODULES, MODULES_LAYOUT, WEIGHTS_KEY
from hfcount.fetcher.location import Place
from hfcount.fetcher.reasons import config_alone
from hfcount.fetcher.weights import Weights, recorded_sizes
from hfcount.formats.json import Document, found_endless, may_be_endless, parse_object
from hfcount.mapper import Config
from hfcount.mapper.context_length import Length
from hfcount.mapper.quantization_config import SIDE_FILES, Announcement, announcements
from hfcount.mapper.whatif import Changes, changed, check_known, written
from hfcount.report.figures import Failure
from hfcount.text import printable, shown
from hfcount.verifier import explain, verify
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import DIFFERING, Outcome, finding_of

_NO_CONFIG = "{} has no config.json, which --set and --quantize need. Name a model that has one."
ARCHITECTURES = "architectures"
_SEARCH = 300.0  # seconds of a search for causes in documents that are at hand


def inspect(documents: Documents, request: Request, options: Options) -> Inspection:
    """Inspects a model with a config, and other forms of it in the same folder; keeps or records what was read.

    Raises:
        FetchError: the documents could not be read, or not be recorded.
        UnknownArchitecture: no family describes the config.
    """
    reads, files = Reads(documents.shards), Weights()
    try:
        read_base = partial(_base, request, documents.source)
        inspection = examine(documents.replace(shards=reads, base=read_base), options.of_headers)
        files = inspection.evidence.weights or files
        return _with_containers(documents.place, request, inspection)
    finally:
        finish(request, documents, reads.headers, reads.samples, reads.pickled)
        if options.save is not None:
            sizes = recorded_sizes(documents, files)
            record(documents, reads.headers, reads.samples, sizes, options.save, reads.pickled)


def _base(request: Request, source: str, name: str, unasked: bool) -> Document | None:
    """The config of the model that a config names; a local folder asks nothing of the Hub unasked."""
    from hfcount.fetcher.base_config import base_config  # few name one

    if request.base is not None:
        return base_config(request.base, request)
    return base_config(name, request, trusted=False) if unasked and source not in ("folder", "memory") else None


def _with_containers(place: Place | None, request: Request, inspection: Inspection) -> Inspection:
    """Adds findings about GGUF files and adapters in a local folder, or where all headers are asked for."""
    options, evidence = inspection.options, inspection.evidence
    if place is None or options.save is not None or evidence.depth != "headers":
        return inspection
    if not place.local and options.depth != "headers":
        return inspection
    for form in CONTAINERS:
        if form.alone or not any(map(form.holds, place.sizes)):
            continue
        try:
            findings, rows, files = form.beside(place, request, inspection)
        except FetchError:  # then the report lists them as not looked at
            continue
        inspection.outcome.findings += findings
        evidence = evidence.replace(variants=(*evidence.variants, *rows), beside={*evidence.beside, *files})
    inspection.outcome.errors_first()
    return inspection._replace(evidence=evidence)


def with_values(inspection: Inspection, request: Request, options: Options) -> Inspection:
    """Also reads all values of the tensors, with --depth data, and looks at what was never written of a sparse file."""
    if options.depth == "data":
        from hfcount.checkpoints.data.inspect import with_values as read_values  # rarely asked for

        inspection = read_values(request, inspection._replace(options=options))
    sparse = {name: shard for name, shard in (inspection.evidence.headers or {}).items() if shard.holes}
    if sparse and inspection.blueprint is not None:
        from hfcount.checkpoints.data.holes import with_holes  # of files that were written as a whole there are none

        return with_holes(request, inspection, sparse)
    return inspection


def examine(documents: Documents, options: Options, changes: Changes | None = None) -> Inspection:
    """Inspects documents that are at hand; a malformed one becomes a finding.

    Args:
        changes: config keys to set, with their values.

    Raises:
        UnknownArchitecture: no family describes the config, and no loader is asked for.
        BadSetting: a key that is set is neither in the config nor read by its family.
    """
    if (MODULES in documents.companions or documents.layout is MODULES_LAYOUT) and not documents.alone:
        from hfcount.checkpoints.sentence_transformers import inspect  # most checkpoints have no modules

        if inspect.takes(documents):
            if changes:
                raise BadSetting(_NO_CONFIG.format(printable(documents.model)))
            return inspect.inspect(documents, options, examine)
    return _inspect_model(documents, options, changes or {})


def _inspect_model(documents: Documents, options: Options, changes: Changes) -> Inspection:
    """Inspects a model by its own config, as that of the class which is stored where the config names none."""
    inspection = _inspect_as_named(documents, options, changes)
    if inspection.blueprint is None and inspection.outcome.has("HF109"):
        values = changed(parse_object(documents.config, endless=True), changes)
        if named := _unreadable(values):
            return _of_class(documents, options, changes, named, shown(values[ARCHITECTURES]))
    elif named := _unnamed(inspection.outcome):
        return _of_class(documents, options, changes, named)
    return inspection


def _inspect_as_named(documents: Documents, options: Options, changes: Changes, trying: bool = False) -> Inspection:
    """Inspects a model by its own config; `trying` says that the changes are tried, and not asked for."""
    document, until = documents.config, options.until or monotonic() + _SEARCH
    announced: Sequence[Announcement] = ()
    blueprint, limit, evidence, outcome = None, None, Evidence(), Outcome()
    try:
        published = parse_object(document, endless=True)  # transformers writes Infinity, of time steps
        values = {**changed(published, changes), **documents.loaded_as}
        library, documents, values = _as_read(documents, values)  # None where families have the library's own names
        announced = announcements(values, _side_objects(documents))
        config = Config(values, where=_where(document, changes), chosen=changes)
        make = partial(library.built, config) if library else partial(_blueprint, config, values, options)
        further = _says_more(documents, changes, library, published)
        blueprint = make() if further else options.blueprints(document.raw, make)  # by what the document says alone
        check_known(config, document.where, published, changes)  # only now have all keys been read
        model, evidence, outcome = _compare(library, Model(documents, blueprint, announced), options)
        blueprint = model.blueprint
        if blueprint.custom_code and (evidence.depth == "config" or outcome.has(*DIFFERING)):
            doubt, blueprint, outcome = blueprint.custom_code, None, Outcome()  # nothing that was read is as it says
            raise doubt
        evidence = _beside(documents, model, evidence, outcome, options)
        _explain(None if library else blueprint, outcome, values, evidence, (announced, until))
        _check_endless(documents, published, outcome)
        limit = _limit(options, blueprint, values)
        outcome.errors_first()  # the cause is an error, a note never
    except (DocumentError, ConfigError, UnknownClass) as error:
        if blueprint and isinstance(error, DocumentError):  # of the index: what the config alone says stays
            outcome = verify(blueprint)
        name = _culprit(documents, blueprint)
        refused = [] if blueprint else _refused(document, changes, error)
        evidence = evidence.replace(unseen=evidence.unseen if refused else _unseen(error) or evidence.unseen)
        variant = None if blueprint or trying else error.variant
        finding = _with_length(documents, options, changes, finding_of(error, name), variant)
        outcome.findings += _in_place_of(finding, refused, name)
    except UnknownArchitecture as error:
        if changes or not options.loaders:
            raise
        evidence = evidence.replace(unseen=Failure(kind=error.kind, message=str(error)))  # loaders may know the class
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


def _explain(
    blueprint: Blueprint | None,
    outcome: Outcome,
    values: Mapping[str, Any],
    evidence: Evidence,
    further: tuple[Sequence[Announcement], float],
) -> None:
    """Looks for the causes of what differs, which are proven by blueprints of other configs, where a family makes them.

    Args:
        further: what announces a quantisation, and the deadline of the search.
    """
    announced, until = further
    if blueprint and not blueprint.derived_with:
        explain(outcome, values, blueprint, evidence.fitting_index, evidence.shards, announced, until=until)


def _culprit(documents: Documents, blueprint: Blueprint | None) -> str:
    """The file that an error is in."""
    return Path(documents.config.where).name if documents.alone else INDEX if blueprint else CONFIG


def _refused(
    document: Document, changes: Changes, error: DocumentError | ConfigError | UnknownClass
) -> list[ConfigError]:
    """What transformers is known to refuse in a config that hfcount cannot read, though a model may be built of it."""
    if not isinstance(error, ConfigError) or not error.built:
        return []
    values = changed(parse_object(document, endless=True), changes)
    problems = Config(values, where=_where(document, changes), chosen=changes).refused
    return [problem for problem in problems if not problem.built]


def _in_place_of(finding: Finding, refused: Sequence[ConfigError], name: str) -> list[Finding]:
    """What is known to be refused, in place of the finding that nothing could be read; or else that."""
    return [finding_of(problem, name) for problem in refused] or [finding]


def _unnamed(outcome: Outcome) -> Changes | None:
    """The class that all that is stored is of, where the config names none; None if that is not proven."""
    changes = next((finding.changes for finding in outcome.findings if ARCHITECTURES in finding.changes), None)
    return changes if changes and changes.keys() == {ARCHITECTURES} else None


def _unreadable(values: Mapping[str, Any]) -> Changes | None:
    """What is read in place of an `architectures` that is no list of names; None if it is one, or absent."""
    given = values.get(ARCHITECTURES)
    if given is None or (isinstance(given, list) and (not given or isinstance(given[0], str))):
        return None
    return {ARCHITECTURES: [given] if isinstance(given, str) and given else None}


def _of_class(documents: Documents, options: Options, changes: Changes, named: Changes, given: str = "") -> Inspection:
    """The inspection of a checkpoint as that of a class that its config does not name, with HF116 if all agrees."""
    inspect_named = partial(_inspect_as_named, trying=True) if named[ARCHITECTURES] else _inspect_model
    inspection = inspect_named(documents, options, {**changes, **named})
    outcome, name = inspection.outcome, (named[ARCHITECTURES] or [""])[0]
    if inspection.blueprint and not any(finding.blocks for finding in outcome.findings) and not outcome.has("HF116"):
        from hfcount.verifier.rules.hf116_class_not_named import ClassNotNamed

        family = inspection.blueprint.spec.family
        fix = f"Set {ARCHITECTURES} to [{printable(name, 60)}]." if name else ClassNotNamed.remedy
        note = ClassNotNamed(observed=name, family=family, given=given, key=ARCHITECTURES, file=CONFIG, fix=fix)
        outcome.report(note)
        outcome.rename_file(CONFIG, documents.layout.config)
    return inspection._replace(changes=changes)


def _as_read(documents: Documents, values: dict[str, Any]) -> tuple[Library | None, Documents, dict[str, Any]]:
    """As `as_read`, with the weights that the config itself names, if it names any and transformers reads it."""
    library, documents, values = as_read(documents, values)
    if library is None and WEIGHTS_KEY in values:
        documents = as_named(documents, values)
    return library, documents, values


def _beside(documents: Documents, model: Model, evidence: Evidence, outcome: Outcome, options: Options) -> Evidence:
    """The evidence, with the model's config in another form held against it, if there is one."""
    return SAFETENSORS.beside(model, evidence, outcome, options) if has_other_config(documents) else evidence


def _says_more(documents: Documents, changes: Changes, library: Library | None, published: Mapping[str, Any]) -> bool:
    """Whether more than the document says what the model is."""
    return bool(changes or documents.loaded_as or (library and library.names(published)))


def _limit(options: Options, blueprint: Blueprint, values: Mapping[str, Any]) -> Length | None:
    """The longest context, if serving was asked for."""
    if not options.load.asked:
        return None
    from hfcount.serving.limits import limit_of  # rarely asked for

    return limit_of(blueprint, values)


def _with_length(
    documents: Documents, options: Options, changes: Changes, finding: Finding, variant: str | None
) -> Finding:
    """HF103 of sizes that do not go together, with the one that all that is stored fits, if there is one."""
    if variant not in ("list-length", "not-divisible") or not finding.key:
        return finding
    from hfcount.verifier.causes import contradictions  # few configs contradict themselves

    def tried(more: Changes) -> Outcome | None:
        with suppress(FetchError, UnknownArchitecture, BadSetting):
            found = _inspect_as_named(documents, options, {**changes, **more}, trying=True)
            is_compared = found.blueprint is not None and (found.outcome.match or found.outcome.packed)
            return found.outcome if is_compared else None
        return None

    values = changed(parse_object(documents.config, endless=True), changes)
    fix = contradictions.cure(variant, values, finding, tried)
    return finding.replace(fix=fix) if fix else finding


def _compare(library: Library | None, model: Model, options: Options) -> tuple[Model, Evidence, Outcome]:
    """Compares a model with its weights, or another one that their names ask for; raises as `_compare_weights` does."""
    evidence, outcome = _compare_weights(model, options)
    names = _unknown_names(outcome)
    if names and model.blueprint.spec.family == "timm":
        from hfcount.architectures.models.timm import check_older

        check_older(model.blueprint.spec, names, model.documents.config.where)
    if library and (other := library.otherwise(model.blueprint, names)):
        model = model._replace(blueprint=other)
        return model, *_compare_weights(model, options)
    return model, evidence, outcome


def _compare_weights(model: Model, options: Options) -> tuple[Evidence, Outcome]:
    """Compares a model with its weights, in their form; raises DocumentError if the index is malformed."""
    documents = model.documents
    if documents.alone or options.depth == "config":
        alone = documents.alone and options.depth in ("index", "headers")
        unseen = Failure(kind="NoIndex", message=config_alone(documents)) if alone else None
        return Evidence(unseen=unseen), verify(model.blueprint, announced=model.announced)
    if documents.layout.reader == "diffusers" and documents.index is not None:
        # diffusers renames nothing in files that an index names
        model = model._replace(blueprint=model.blueprint.replace(verbatim_names=True))
    form = weights_form(documents)
    evidence, outcome = form.inspect(model, options)
    if form is SAFETENSORS and holds_pickles(documents):
        evidence = PICKLE.beside(model, evidence, outcome, options)
    return evidence, outcome


def _unknown_names(outcome: Outcome) -> Sequence[str]:
    """The names that are not the model's, where it lacks others; those of packed weights are folded."""
    if outcome.match:
        return outcome.match.unexpected if outcome.match.missing_count else ()
    names = next((finding.tensors for finding in outcome.findings if finding.code == "HF202"), ())
    return names if outcome.has("HF201") else ()


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
    if known and not (options.derive_with and (known.unmodeled or known.recorded_from)):
        return known
    if options.derive_with == "diffusers":
        from hfcount.blueprints.derive_diffusers import derive  # which imports torch
    else:
        from hfcount.blueprints.derive_transformers import derive
    try:
        return derive(values, config.where)
    except UnknownArchitecture:
        if known is None:
            raise
    return known


def _check_endless(documents: Documents, values: Mapping[str, Any], outcome: Outcome) -> None:
    """HF111: numbers that JSON does not have."""
    if documents.source != "memory" and may_be_endless(documents.config) and (endless := found_endless(values)):
        from hfcount.verifier.rules.hf111_number_not_json import NumberNotJson

        outcome.report(NumberNotJson(key=endless[0], observed=endless[1], file=CONFIG))


def _unseen(error: DocumentError | ConfigError | UnknownClass) -> Failure | None:
    """Why a config of which a model may be built cannot be judged."""
    if isinstance(error, UnknownClass):
        return Failure(kind=error.kind, message="hfcount does not know the class that config.json names")
    if error.built:
        return Failure(kind=error.kind, message="hfcount does not know what transformers builds from this config")
    return None


def _side_objects(documents: Documents) -> dict[str, dict[str, Any]]:
    """The objects in files beside the config that may announce a quantisation; one that is malformed announces none."""
    objects = {}
    for name in SIDE_FILES:
        if document := documents.companions.get(name):
            with suppress(DocumentError):
                objects[name] = parse_object(document)
    return objects
