"""The whole way: MODEL, documents, config, spec, blueprint, evidence, findings, report."""

import gc
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from hfcount.errors import BadSetting, ConfigError, DocumentError, FetchError, HfcountError, UnknownArchitecture
from hfcount.fetcher import Request, fetch
from hfcount.fetcher.fixtures import record
from hfcount.fetcher.interface import INDEX, Documents, label
from hfcount.fetcher.missing import SINGLE, config_alone, nothing_to_compare, without_index
from hfcount.formats.index import Index, read_index
from hfcount.formats.json import parse_object
from hfcount.formats.safetensors import Shard
from hfcount.mapper import Config
from hfcount.mapper.whatif import Changes, changed, check_known, written
from hfcount.plan import Blueprint, build
from hfcount.report.build import compose
from hfcount.report.model import Depth, Extra, Failure, Report
from hfcount.report.serving import Workload
from hfcount.storage.schemes import scheme
from hfcount.text import printable
from hfcount.verifier import count_only, verify_headers, verify_index
from hfcount.verifier.findings import Outcome
from hfcount.verifier.rules import Policy

AskedDepth = Literal["auto", "config", "index", "headers"]


@dataclass(frozen=True, slots=True)
class Options:
    """How far to look, how to take what is found, and what else to do.

    Args:
        save: a folder to record below what was read.
        extras: what else the report should hold.
        load: what is asked of the model when it is served.
        progress: called with the number of files to read, and returns what to call for each that is done.
    """

    depth: AskedDepth = "auto"
    policy: Policy = field(default_factory=Policy)
    save: Path | None = None
    extras: Collection[Extra] = ()
    load: Workload = field(default_factory=Workload)
    progress: Callable[[int], Callable[[], None]] = lambda files: lambda: None


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
        model: a local folder or a config's own .json file if there is one, else a repo id; with `fixtures`, a path
            below that folder.
        revision: branch, tag or commit of a repo.
        fixtures: a folder of recorded checkpoints to read in place of the Hub.
        offline: read the standard cache only.
        depth: `config` counts; `index` compares names and totals; `headers` compares every tensor's header; `auto`
            reads headers where the index does not settle it.

    Raises:
        FetchError: the documents could not be had.
        UnknownArchitecture: no family describes the config.
        ValueError: there is no such depth.
    """
    if depth not in get_args(AskedDepth):
        raise ValueError(f"depth is {depth!r}, and must be one of {', '.join(get_args(AskedDepth))}.")
    where = Path(fixtures) if fixtures is not None else None
    return inspect(Request(model, revision, None, where, offline), Options(depth))


def inspect(request: Request, options: Options | None = None) -> Report:
    """One checkpoint, from its name to the report.

    Raises:
        FetchError: the documents could not be had, or not be recorded.
        UnknownArchitecture: no family describes the config.
    """
    options = options or Options()
    documents = fetch(request)
    run = _Run(documents, options)
    try:
        with _no_collection():
            run.look()
    finally:
        if options.save is not None:
            record(documents, run.shards, options.save)
    return _report(run)


def what_ifs(request: Request, options: Options, changes: Sequence[Changes]) -> list[Report]:
    """One checkpoint as its config has it, and then with each of the changes made; counted, not compared.

    Raises:
        FetchError: the documents could not be had.
        UnknownArchitecture: no family describes the config.
        BadSetting: neither the config has a key that is set, nor its family reads it; or its value cannot be.
    """
    documents, options = fetch(request), replace(options, depth="config")
    runs = [_Run(documents, options, change) for change in ({}, *changes)]
    for run in runs:
        try:
            run.look()
        except UnknownArchitecture as error:
            if run is runs[0]:
                raise
            raise BadSetting(str(error)) from None
        if run.blueprint is None and runs[0].blueprint is not None:
            raise BadSetting(run.outcome.findings[0].message)
    return [_report(run) for run in runs]


def _report(run: "_Run") -> Report:
    report = compose(
        run.documents, run.blueprint, run.index, run.shards, run.outcome, run.depth, run.why, run.options.policy,
        run.unseen, run.options.extras, run.options.load, run.quant_method,
    )  # fmt: skip
    return report.model_copy(update={"overrides": dict(run.changes)}) if run.changes else report


def failed(model: str, error: HfcountError) -> Report:
    """The report of a run that could not look."""
    return Report(model=printable(model), verdict="unverified", error=Failure(kind=error.kind, message=str(error)))


@contextmanager
def _no_collection() -> Iterator[None]:
    """A hundred thousand tuples, none of them garbage: the collector would walk them over and over."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


@dataclass(slots=True)
class _Run:
    """One checkpoint on its way: it climbs from the config to the index to the headers, as far as it must."""

    documents: Documents
    options: Options
    changes: Changes = field(default_factory=dict)
    blueprint: Blueprint | None = None
    index: Index | None = None
    shards: Mapping[str, Shard] | None = None
    outcome: Outcome = field(default_factory=Outcome)
    depth: Depth = "config"
    why: str | None = None
    unseen: Failure | None = None
    quant_method: str | None = None

    def look(self) -> None:
        try:
            values = parse_object(self.documents.config)
            given = changed(values, self.changes)
            self.quant_method = scheme(given)
            config = Config(given, where=self._where(), chosen=self.changes)
            self.blueprint = build(config)
            check_known(config, self.documents.config.where, values, self.changes)  # only now have all keys been read
            self.outcome = count_only(self.blueprint)
            if self.documents.alone and self.options.depth in ("index", "headers"):
                self.unseen = Failure(kind="NoIndex", message=config_alone(self.documents))
            elif self.options.depth != "config" and not self.documents.alone:
                self._look_at_the_index(self.blueprint, self.quant_method)
        except (DocumentError, ConfigError) as error:
            self.outcome.report(error.code, str(error))

    def _where(self) -> str:
        where = self.documents.config.where
        return f"{where} with {written(self.changes)}" if self.changes else where

    def _look_at_the_index(self, blueprint: Blueprint, quant_method: str | None) -> None:
        if self.documents.index is not None:
            self.index, self.depth = read_index(self.documents.index), "index"
            self.outcome = verify_index(blueprint, self.index, quant_method)
        need, asked = self._need_of_headers(), self.options.depth
        if asked == "headers" or (asked == "auto" and (need or self.documents.shards.local)):
            self.why = need
            self._look_at_the_headers(blueprint, quant_method)
        elif self.index is None:
            self.unseen = Failure(kind="NoIndex", message=nothing_to_compare(self.documents))

    def _need_of_headers(self) -> str | None:
        """Why the index does not settle it; None when it does."""
        if self.index is None:
            return "there is no index"
        if any(finding.rule.code == "HF501" for finding in self.outcome.findings):
            return "the weights are quantised"
        return None if self.outcome.settled else "the index alone does not add up"

    def _look_at_the_headers(self, blueprint: Blueprint, quant_method: str | None) -> None:
        reader, asked = self.documents.shards, self.options.depth == "headers"
        wanted = self.index.shards if self.index else without_index(self.documents)
        try:
            shards = reader.read(sorted(wanted), self.options.progress(len(wanted)))
        except FetchError as error:  # what the index says still stands
            self.unseen = Failure(kind=error.kind, message=str(error))
            return
        if not shards and (reader.local or self.index is None):
            self.why = None
            if asked or self.index is None:
                self.unseen = Failure(kind="NoHeaders", message=nothing_to_compare(self.documents, asked))
            return
        self.shards, self.depth = shards, "headers"
        self.outcome = verify_headers(blueprint, self.index, shards, quant_method, self.outcome.match)
        if self.index is None and wanted != {SINGLE}:
            self.outcome.report(
                "HF001",
                f"{label(self.documents.model, self.documents.revision)} has {len(wanted):,} weight files and no"
                f" {INDEX} to say which tensor is where. Write the index.",
            )
