"""The whole way: MODEL, documents, config, spec, blueprint, evidence, findings, report."""

from collections.abc import Collection
from pathlib import Path
from typing import Literal

from hfcount.errors import ConfigError, DocumentError, HfcountError
from hfcount.fetcher import Request, fetch
from hfcount.fetcher.documents import INDEX, Documents, parse_object
from hfcount.fetcher.record import record
from hfcount.mapper import Config
from hfcount.measures import build
from hfcount.report import Depth, Extra, Failure, Report, compose
from hfcount.storage.schemes import scheme
from hfcount.text import printable
from hfcount.verifier import count_only, unmodelled, verify_index
from hfcount.verifier.evidence import read_index
from hfcount.verifier.findings import Outcome
from hfcount.verifier.rules import Policy

AskedDepth = Literal["auto", "config", "index", "headers"]


def verify(
    model: str,
    *,
    revision: str | None = None,
    fixtures: str | Path | None = None,
    offline: bool = False,
    depth: AskedDepth = "auto",
) -> Report:
    """Holds a checkpoint against its config.

    Args:
        model: a local folder if one exists, else a repo id; with `fixtures`, a path below that folder.
        revision: branch, tag or commit of a repo.
        fixtures: a folder of recorded checkpoints to read in place of the Hub.
        offline: read the standard cache only.
        depth: `config` counts; `index` compares names and totals.

    Raises:
        FetchError: the documents could not be had.
        UnknownArchitecture: no family describes the config.
    """
    where = Path(fixtures) if fixtures is not None else None
    return inspect(Request(model, revision, None, where, offline), depth)


def inspect(
    request: Request,
    depth: AskedDepth = "auto",
    policy: Policy | None = None,
    save: Path | None = None,
    extras: Collection[Extra] = (),
) -> Report:
    """One checkpoint, from its name to the report; what was read is recorded below `save`.

    Raises:
        FetchError: the documents could not be had.
        UnknownArchitecture: no family describes the config.
    """
    documents, policy = fetch(request), policy or Policy()
    if save is not None:
        record(documents, save)
    outcome, plan, index = Outcome(), None, None
    reached: Depth = "config"
    try:
        values = parse_object(documents.config)
        plan = build(Config(values, where=documents.config.where))
        packed = scheme(values)
        if depth != "config" and documents.index is not None:
            reached, index = "index", read_index(documents.index)
        if packed and depth != "config":
            outcome = unmodelled(plan, packed)
        else:
            outcome = verify_index(plan, index) if index else count_only(plan)
    except (DocumentError, ConfigError) as error:
        outcome.report(error.code, str(error))
    unseen = None
    if depth != "config" and documents.index is None:
        unseen = Failure(kind="NoIndex", message=_unseen(documents))
    return compose(documents, plan, index, outcome, reached, policy, unseen, extras)


def failed(model: str, error: HfcountError) -> Report:
    """The report of a run that could not look."""
    return Report(model=printable(model), verdict="unverified", error=Failure(kind=error.kind, message=str(error)))


def _unseen(documents: Documents) -> str:
    """Why there is nothing to hold against the config, from the files that are there instead."""
    files = documents.files or {}
    text = f"{printable(documents.label)} has no {INDEX}"
    if "model.safetensors" in files:
        return f"{text}, only a single model.safetensors."
    if any(name.endswith((".bin", ".pt", ".pth")) for name in files):
        return f"{text}, only pickled weights (.bin), whose tensors cannot be seen without loading them."
    if any(name.endswith(".gguf") for name in files):
        return f"{text}, only GGUF files."
    return f"{text}, so there is nothing to hold against its config."
