"""How far a run looks: at the index, and at the headers where that does not settle it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.interface import BIN_INDEX, INDEX
from hfcount.fetcher.missing import config_alone, not_read, nothing_to_compare, pickled
from hfcount.fetcher.weights import Weights, weights
from hfcount.formats.index import read_index
from hfcount.formats.json import Document
from hfcount.plan import Blueprint
from hfcount.report.inspection import Inspection
from hfcount.report.model import Failure
from hfcount.verifier import verify as compare

_UNLISTED = "the endpoint does not list the files of the repo"


def look_at(run: Inspection, blueprint: Blueprint) -> None:
    """Compares the blueprint with the index, and with the headers if the index does not settle it."""
    documents, asked = run.documents, run.options.depth
    if documents.alone or asked == "config":
        run.outcome = compare(blueprint)
        if documents.alone and asked in ("index", "headers"):
            run.unseen = Failure(kind="NoIndex", message=config_alone(documents))
        return
    if documents.index is None and BIN_INDEX in documents.companions:
        _compare_pickled(run, blueprint, documents.companions[BIN_INDEX])
        return
    if documents.index is not None:
        with _counted(run, blueprint):
            run.index, run.depth = run.options.indexes(documents.index), "index"
    run.weights = found = weights(documents, run.index)
    run.outcome = compare(blueprint, run.index, announced=run.announced, weights=found)
    need, kept = _need_of_headers(run, found), _kept(run, found)
    if asked == "headers" or (asked == "auto" and (need or documents.shards.local or kept)) or kept == "all":
        known = bool(kept) and asked != "headers" and not documents.shards.local
        run.depth_reason = need or ("an earlier run has read them" if known else None)
        _look_at_the_headers(run, blueprint, found)
    else:
        run.unseen = _unopened(run, found, kept)
    if documents.source == "cache" and not found.whole and run.unseen is None and (unread := _unread(run, found)):
        run.unseen = Failure(kind="NotCached", message=not_read(documents, found, unread))


def _kept(run: Inspection, found: Weights) -> Literal["all", "some"] | None:
    """Which headers earlier runs have read of the commit: a verdict must not forget what they saw."""
    wanted = {*found.there, *found.beside}
    kept = wanted.intersection(run.documents.shards.kept)
    return ("all" if kept == wanted else "some") if kept else None


def _unopened(run: Inspection, found: Weights, kept: str | None) -> Failure | None:
    """Why the index does not settle it, where headers were not to be read."""
    if run.index is None:
        return Failure(kind="NoIndex", message=nothing_to_compare(run.documents, found))
    if any(finding.severity == "error" for finding in run.outcome.findings):
        return None
    doubt = _doubt(run) or (kept and "an earlier run has read the headers of some of the files of this commit")
    return Failure(kind="NotOpened", message=f"{doubt}. --depth headers tells.") if doubt else None


@contextmanager
def _counted(run: Inspection, blueprint: Blueprint) -> Iterator[None]:
    """What the config alone says stays where the index cannot be read."""
    try:
        yield
    except DocumentError:
        run.outcome = compare(blueprint)
        raise


def _compare_pickled(run: Inspection, blueprint: Blueprint, document: Document) -> None:
    """Compares the blueprint with the index of weights in Python's own format, which is not read."""
    try:
        with _counted(run, blueprint):
            run.index, run.depth = read_index(document, ".bin"), "index"
    except DocumentError as error:
        error.file = BIN_INDEX
        raise
    run.weights = weights(run.documents, run.index)
    run.outcome = compare(blueprint, run.index, announced=run.announced, weights=run.weights)
    found = run.outcome.findings
    run.outcome.findings = [one.replace(file=BIN_INDEX) if one.file == INDEX else one for one in found]
    run.unseen = Failure(kind="NoHeaders", message=pickled(run.documents))


def _need_of_headers(run: Inspection, found: Weights) -> str | None:
    """Why headers are needed; None if the index and the sizes of its files settle it."""
    if run.index is None:
        return "there is no index"
    if found.whole and not found.there and not found.beside:
        return None  # there are none
    if run.documents.source == "hub" and run.documents.sizes is None:
        return _UNLISTED
    if any(finding.proof == "lost" for finding in run.outcome.findings):
        return "the weights are quantised"
    if run.outcome.settled and run.outcome.has("HF203"):
        return "a tied weight is stored, and may be no copy"
    return run.outcome.doubt if run.outcome.settled else "the index alone does not add up"


def _doubt(run: Inspection) -> str | None:
    """What only headers would tell of the files that the index names."""
    return _UNLISTED if run.documents.source == "hub" and run.documents.sizes is None else run.outcome.doubt


def _look_at_the_headers(run: Inspection, blueprint: Blueprint, found: Weights) -> None:
    documents, wanted = run.documents, [*found.there, *found.beside]
    try:
        run.headers = documents.shards.read(wanted, run.options.progress(len(wanted))) or None
    except FetchError as error:  # the result from the index stays
        run.unseen = Failure(kind=error.kind, message=str(error))
        return
    unread = _unread(run, found)
    if unread and found.sizes is not None and (run.headers or run.options.depth == "headers" or run.outcome.doubt):
        run.unseen = Failure(kind="NoHeaders", message=not_read(documents, found, unread))
    if run.headers is None:
        run.depth_reason = None
        if run.index is None:
            run.unseen = Failure(kind="NoHeaders", message=nothing_to_compare(documents, found))
        return
    shards = {name: one for name, one in run.headers.items() if name in found.named}
    beside = {name: one for name, one in run.headers.items() if name not in found.named}
    match = run.outcome.match
    if not shards and found.whole:  # the index is of other files than those that are there
        match, shards, beside, run.stale = None, beside, {}, True
    run.shards, run.depth = shards, "headers"
    run.outcome = compare(
        blueprint, run.fitting_index, shards, run.announced, match=match, weights=found, beside=beside
    )
    if run.outcome.pieces:
        with suppress(FetchError):  # then it is said that they were not compared
            run.samples = documents.shards.sample(run.outcome.pieces)
    if run.samples:
        match = run.outcome.match
        run.outcome = compare(
            blueprint,
            run.fitting_index,
            shards,
            run.announced,
            match=match,
            weights=found,
            beside=beside,
            samples=run.samples,
        )


def _unread(run: Inspection, found: Weights) -> list[str]:
    """The files of the model that may be there, and whose headers were not read."""
    return [name for name in found.there if name not in (run.headers or ())]
