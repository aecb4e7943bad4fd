"""Compares a model with its pickled files, of which the directory and the pickle are read and nothing is run."""

from contextlib import suppress

from hfcount.checkpoints.inspection import Evidence, Model, Options, module_shards, unwatched
from hfcount.checkpoints.pickle import beside_safetensors
from hfcount.checkpoints.pickle.check import as_pickled, contents, examine
from hfcount.checkpoints.pickled_shards import Files, faults, shards
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import BIN_INDEX, BIN_SINGLE
from hfcount.fetcher.reasons import misnamed, not_read, pickled
from hfcount.fetcher.weights import Weights, pickled_weights
from hfcount.formats.index import Index, read_index
from hfcount.formats.pickles import Broken
from hfcount.options import Depth
from hfcount.report.figures import Failure
from hfcount.verifier import verify
from hfcount.verifier.findings import Outcome


def inspect(model: Model, options: Options) -> tuple[Evidence, Outcome]:
    """Reads the index if there is one, and the files where they are to be opened.

    Raises:
        DocumentError: the index cannot be read.
    """
    documents = model.documents
    weights = pickled_weights(documents, _index(documents))
    index = weights.index
    depth: Depth = "config" if index is None else "index"
    evidence = Evidence(index=index, weights=weights, depth=depth, container="pickle")
    files, failure = _read(documents, weights, options)
    if not files:
        outcome = verify(model.blueprint, index, announced=model.announced, weights=weights)
        if index is not None:
            outcome.findings = [as_pickled(finding) for finding in outcome.findings]
        return evidence.replace(unseen=failure), outcome
    headers = shards(files)
    if failure is None and not weights.usual:  # transformers does not look for these names
        message = misnamed(documents, weights, contents(model.blueprint, files))
        unseen = Failure(kind="NoHeaders", message=message)
        return evidence.replace(headers=headers, unseen=unseen), Outcome(findings=faults(files))
    modules = module_shards(documents, model.module_files, options)
    outcome = examine(model.blueprint, files, index, model.announced, weights, modules)
    evidence = evidence.replace(depth="headers", others=modules, shards=headers, headers=headers, unseen=failure)
    return evidence, outcome


def beside(model: Model, evidence: Evidence, outcome: Outcome, options: Options) -> Evidence:
    """Compares pickled files with the safetensors files next to them, where they are read."""
    documents, headers = model.documents, [shard.header for shard in (evidence.shards or {}).values()]
    weights = pickled_weights(documents, None)
    if evidence.container or not (headers and weights.named and weights.usual):
        return evidence
    known = set(weights.named) <= set(documents.shards.kept)
    if not (documents.shards.local or options.depth == "headers" or known):
        return evidence
    with suppress(FetchError):  # then the report lists them as not looked at
        if files := documents.shards.pickles(weights.there, unwatched(len(weights.there))):
            entries = {name: entry for header in headers if header for name, entry in header.tensors.items()}
            outcome.findings += beside_safetensors.beside([*files.values()], entries, model.blueprint)
            return evidence.replace(beside=[*files])
    return evidence


def _index(documents: Documents) -> Index | None:
    if BIN_INDEX in documents.companions:
        try:
            return read_index(documents.companions[BIN_INDEX], ".bin")
        except DocumentError as error:
            if BIN_SINGLE not in documents.files:  # where it is, loaders do not read the index
                error.file = BIN_INDEX
                raise
    return None


def _read(documents: Documents, weights: Weights, options: Options) -> tuple[Files, Failure | None]:
    """The pickled files, and why not all of them are known."""
    if options.depth == "index":
        return [], Failure(kind="NoHeaders", message=pickled(documents, weights))
    try:
        files = documents.shards.pickles(weights.there, options.progress(len(weights.there)))
    except FetchError as error:
        return [], Failure(kind=error.kind, message=str(error))
    large = [file.problem for file in files.values() if isinstance(file, Broken) and file.large]
    if large:
        return [*files.values()], Failure(kind="UnreadableFile", message=large[0])
    unread = [name for name in weights.there if name not in files]
    if not unread:
        return [*files.values()], None
    return [*files.values()], Failure(kind="NoHeaders", message=not_read(documents, weights, unread))
