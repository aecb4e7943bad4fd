"""Compares a model with its safetensors files: by the index, and by headers if the index alone is not conclusive."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Literal

from hfcount.checkpoints.inspection import Evidence, Model, Options, module_shards
from hfcount.errors import FetchError
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.reasons import not_read, nothing_to_compare
from hfcount.fetcher.weights import Weights, weights
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.report.figures import Failure
from hfcount.verifier import verify
from hfcount.verifier.findings import Outcome
from hfcount.verifier.match import Match

_UNLISTED = "the endpoint does not list the files of the repo"


def inspect(model: Model, options: Options) -> tuple[Evidence, Outcome]:
    """Reads the index if there is one, and the headers if they are asked for or needed.

    Raises:
        DocumentError: the index cannot be read.
    """
    documents, depth = model.documents, options.depth
    index = options.indexes(documents.index) if documents.index is not None else None
    files = weights(documents, index)
    modules = {} if index is None or depth != "auto" else module_shards(documents, model.module_files, options)
    outcome = verify(model.blueprint, index, announced=model.announced, weights=files, modules=modules)
    evidence = Evidence(index=index, weights=files, others=modules, depth="config" if index is None else "index")
    need, kept, local = _need_of_headers(documents, evidence, outcome), _kept(documents, files), documents.shards.local
    if depth == "headers" or (depth == "auto" and (need or local or kept)) or kept == "all":
        known = "an earlier run has read them" if kept and depth != "headers" and not local else None
        evidence, outcome = _read_headers(model, evidence.replace(depth_reason=need or known), outcome, options)
    else:
        evidence = evidence.replace(unseen=_unopened(documents, evidence, outcome, kept))
    if documents.source == "cache" and not files.whole and evidence.unseen is None:
        evidence = evidence.replace(unseen=_unread(documents, evidence, "NotCached"))
    return evidence, outcome


def beside(model: Model, evidence: Evidence, outcome: Outcome, options: Options) -> Evidence:
    """Also compares params.json or open_clip_config.json, and the files that belong to them."""
    del options
    from hfcount.checkpoints.safetensors.other_configs import compare  # few have two

    return compare(model.documents, model.blueprint, evidence, outcome)


def _is_unlisted(documents: Documents) -> bool:
    return documents.source == "hub" and documents.sizes is None


def _need_of_headers(documents: Documents, evidence: Evidence, outcome: Outcome) -> str | None:
    """Why headers are needed; None if the index and the sizes of its files settle it."""
    files = evidence.weights
    if evidence.index is None:
        return "there is no index file"
    if files and files.whole and not files.there and not files.beside:
        return None  # there are none
    if _is_unlisted(documents):
        return _UNLISTED
    if any(finding.proof == "lost" for finding in outcome.findings):
        return "the weights are quantised"
    if outcome.settled and outcome.has("HF203"):
        return "a tied weight is stored; the index does not show whether it is a copy"
    return outcome.doubt if outcome.settled else "the index alone does not agree"


def _kept(documents: Documents, files: Weights) -> Literal["all", "some"] | None:
    """Which headers earlier runs have read of the commit: a verdict must not forget what they contained."""
    wanted = {*files.there, *files.beside}
    kept = wanted.intersection(documents.shards.kept)
    return ("all" if kept == wanted else "some") if kept else None


def _unopened(documents: Documents, evidence: Evidence, outcome: Outcome, kept: str | None) -> Failure | None:
    """Why the index does not settle it, where headers were not to be read."""
    if evidence.index is None:
        return Failure(kind="NoIndex", message=nothing_to_compare(documents, evidence.weights or Weights()))
    if any(finding.severity == "error" for finding in outcome.findings):
        return None
    doubt = _UNLISTED if _is_unlisted(documents) else outcome.doubt
    doubt = doubt or (kept and "an earlier run has read the headers of some of the files of this commit")
    return Failure(kind="NotOpened", message=f"{doubt}. --depth headers shows it.") if doubt else None


def _read_headers(model: Model, evidence: Evidence, outcome: Outcome, options: Options) -> tuple[Evidence, Outcome]:
    """Reads the headers, as far as that is possible; without any, the outcome of the index stays."""
    documents, files = model.documents, evidence.weights or Weights()
    modules = [name for name in model.module_files if name not in evidence.others]
    safe = [name for name in modules if name.endswith(".safetensors")]
    wanted = [*files.there, *files.beside, *safe]
    try:
        shards = documents.shards.read(wanted, options.progress(len(wanted)))
    except FetchError as error:
        return evidence.replace(unseen=Failure(kind=error.kind, message=str(error))), outcome
    headers = {name: shard for name, shard in shards.items() if name not in safe} or None
    others = {name: shards[name] for name in safe if name in shards}
    pickled = module_shards(documents, [name for name in modules if name not in safe], options)
    evidence = evidence.replace(headers=headers, others={**evidence.others, **others, **pickled})
    if files.sizes is not None and (headers or options.depth == "headers" or outcome.doubt):
        evidence = evidence.replace(unseen=_unread(documents, evidence, "NoHeaders"))
    if headers is not None:
        return _compare_headers(model, evidence, headers, outcome.match)
    if evidence.index is None:
        evidence = evidence.replace(unseen=Failure(kind="NoHeaders", message=nothing_to_compare(documents, files)))
    return evidence.replace(depth_reason=None), outcome


def _compare_headers(
    model: Model, evidence: Evidence, headers: Mapping[str, Shard], match: Match | None
) -> tuple[Evidence, Outcome]:
    """Compares headers, and then samples of the tensors that have to be equal.

    Args:
        match: how the names in the index match; None if there is none.
    """
    files = evidence.weights or Weights()
    shards = {name: shard for name, shard in headers.items() if name in files.named}
    others = {name: shard for name, shard in headers.items() if name not in files.named}
    if not shards and files.whole:  # the index is of other files than those that are there
        match, shards, others, evidence = None, others, {}, evidence.replace(stale=True)
    evidence = evidence.replace(shards=shards, depth="headers")

    def compare(match: Match | None, samples: Samples = MappingProxyType({})) -> Outcome:
        return verify(
            model.blueprint,
            evidence.fitting_index,
            shards,
            announced=model.announced,
            match=match,
            weights=files,
            beside=others,
            samples=samples,
            modules=evidence.others,
        )

    outcome = compare(match)
    if outcome.pieces:
        with suppress(FetchError):  # then a finding says that they were not compared
            evidence = evidence.replace(samples=model.documents.shards.sample(outcome.pieces))
    return evidence, compare(outcome.match, evidence.samples) if evidence.samples else outcome


def _unread(documents: Documents, evidence: Evidence, kind: str) -> Failure | None:
    """Why not all headers of the model are known; None if all of them were read."""
    files = evidence.weights or Weights()
    unread: Sequence[str] = [name for name in files.there if name not in (evidence.headers or ())]
    return Failure(kind=kind, message=not_read(documents, files, unread)) if unread else None
