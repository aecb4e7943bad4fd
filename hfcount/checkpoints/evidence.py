"""How far a run looks: at the index, and at the headers where that does not settle it."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.inspection import Evidence, Options, unwatched
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import BIN_INDEX, BIN_SINGLE
from hfcount.fetcher.module_files import weight_files
from hfcount.fetcher.reasons import config_alone, misnamed, not_read, nothing_to_compare, pickled
from hfcount.fetcher.weights import Weights, pickled_weights, set_apart, weights
from hfcount.formats.index import Index, read_index
from hfcount.formats.safetensors import Shard
from hfcount.formats.samples import Samples
from hfcount.mapper.quantization_config import Announcement
from hfcount.options import Depth
from hfcount.report.figures import Failure
from hfcount.verifier import verify
from hfcount.verifier.findings import Outcome
from hfcount.verifier.match import Match

if TYPE_CHECKING:
    from hfcount.formats.pickles import Broken, Pickle

_UNLISTED = "the endpoint does not list the files of the repo"


def look(
    documents: Documents, blueprint: Blueprint, announced: Sequence[Announcement], options: Options
) -> tuple[Evidence, Outcome]:
    """What was read, and what it says of the blueprint: the index, and the headers if that does not settle it.

    Args:
        announced: what announces a quantisation.

    Raises:
        DocumentError: the index cannot be read.
    """
    if documents.alone or options.depth == "config":
        alone = documents.alone and options.depth in ("index", "headers")
        unseen = Failure(kind="NoIndex", message=config_alone(documents)) if alone else None
        return Evidence(unseen=unseen), verify(blueprint)
    if documents.layout.reader == "diffusers" and documents.index is not None:
        blueprint = replace(blueprint, verbatim_names=True)  # diffusers renames nothing in files that an index names
    files = _Files(documents, blueprint, announced, options)
    if documents.index is None and (weights := _pickles(documents)) is not None:
        return files.pickled(*weights)
    return files.with_pickles(*files.safetensors())


def _pickles(documents: Documents) -> tuple[Index | None, Weights] | None:
    """The index and the files of a checkpoint that is pickled; None for one that has files of safetensors, or nothing.

    Raises:
        DocumentError: the index cannot be read.
    """
    names = documents.shards.names
    if names is None or any(set_apart(name, documents.layout) is None for name in names):
        return None
    index = None
    if BIN_INDEX in documents.companions:
        try:
            index = read_index(documents.companions[BIN_INDEX], ".bin")
        except DocumentError as error:
            if BIN_SINGLE not in documents.files:  # where it is, loaders do not read the index
                error.file = BIN_INDEX
                raise
    found = pickled_weights(documents, index)
    return (found.index, found) if found.named else None


class _Files(NamedTuple):
    """The weight files of a checkpoint, as far as they are looked at."""

    documents: Documents
    blueprint: Blueprint
    announced: Sequence[Announcement]
    options: Options

    def pickled(self, index: Index | None, found: Weights) -> tuple[Evidence, Outcome]:
        """By files of torch.save, of which the directory and the pickle are read and nothing is run."""
        depth: Depth = "config" if index is None else "index"
        seen = Evidence(index=index, weights=found, depth=depth, container="pickle")
        files, failure = self._opened(found)
        if files and failure is None and not found.usual:
            return self._unusual(seen, found, files)
        if files:
            from hfcount.checkpoints.pickle import check  # most checkpoints have none

            shards = check.shards(files)
            seen = replace(seen, others=self._modules(self._module_files))
            outcome = check.examine(self.blueprint, files, index, self.announced, found, seen.others)
            return replace(seen, depth="headers", shards=shards, headers=shards, unseen=failure), outcome
        outcome = verify(self.blueprint, index, announced=self.announced, weights=found)
        if index is not None:
            from hfcount.checkpoints.pickle.check import told

            outcome.findings = [told(finding) for finding in outcome.findings]
        return replace(seen, unseen=failure), outcome

    def _opened(self, found: Weights) -> tuple["list[Pickle | Broken]", Failure | None]:
        """What the pickled files hold, and why that is not known of all of them."""
        documents = self.documents
        if self.options.depth == "index":
            return [], Failure(kind="NoHeaders", message=pickled(documents, found))
        try:
            files = documents.shards.pickles(found.there, self.options.progress(len(found.there)))
        except FetchError as error:
            return [], Failure(kind=error.kind, message=str(error))
        large = [file.problem for file in files.values() if not hasattr(file, "tensors") and file.large]
        if large:
            return [*files.values()], Failure(kind="UnreadableFile", message=large[0])
        unread = [name for name in found.there if name not in files]
        return [*files.values()], Failure(
            kind="NoHeaders", message=not_read(documents, found, unread)
        ) if unread else None

    def _unusual(self, seen: Evidence, found: Weights, files: "list[Pickle | Broken]") -> tuple[Evidence, Outcome]:
        """Files of names that transformers does not look for: what is wrong with them is told, and what they hold."""
        from hfcount.checkpoints.pickle import check

        findings = check.faults(files)
        held = check.held(self.blueprint, files)
        unseen = Failure(kind="NoHeaders", message=misnamed(self.documents, found, held))
        shards = check.shards(files)
        return replace(seen, headers=shards, unseen=unseen), Outcome(findings=findings)

    def with_pickles(self, seen: Evidence, outcome: Outcome) -> tuple[Evidence, Outcome]:
        """The same with what pickled files beside those of safetensors hold, where they are read."""
        documents, headers = self.documents, [shard.header for shard in (seen.shards or {}).values()]
        found = pickled_weights(documents, None)
        if not (headers and found.named and found.usual):
            return seen, outcome
        known = set(found.named) <= set(documents.shards.kept)
        if not (documents.shards.local or self.options.depth == "headers" or known):
            return seen, outcome
        with suppress(FetchError):  # then they are not looked at
            if files := documents.shards.pickles(found.there, unwatched(len(found.there))):
                from hfcount.checkpoints.pickle.beside_safetensors import beside

                entries = {name: one for header in headers if header for name, one in header.tensors.items()}
                outcome.findings += beside([*files.values()], entries, self.blueprint)
                seen = replace(seen, beside=[*files])
        return seen, outcome

    def safetensors(self) -> tuple[Evidence, Outcome]:
        """By the index if there is one, and by the headers."""
        documents, asked = self.documents, self.options.depth
        index = self.options.indexes(documents.index) if documents.index is not None else None
        found = weights(documents, index)
        modules = {} if index is None or asked != "auto" else self._modules(self._module_files)
        outcome = verify(self.blueprint, index, announced=self.announced, weights=found, modules=modules)
        seen = Evidence(index=index, weights=found, others=modules, depth="config" if index is None else "index")
        need, kept = self._need_of_headers(seen, found, outcome), self._kept(found)
        if asked == "headers" or (asked == "auto" and (need or documents.shards.local or kept)) or kept == "all":
            known = bool(kept) and asked != "headers" and not documents.shards.local
            reason = need or ("an earlier run has read them" if known else None)
            seen, outcome = self._headers(replace(seen, depth_reason=reason), found, outcome)
        else:
            seen = replace(seen, unseen=self._unopened(seen, found, outcome, kept))
        if documents.source == "cache" and not found.whole and seen.unseen is None and (unread := _unread(seen, found)):
            seen = replace(seen, unseen=Failure(kind="NotCached", message=not_read(documents, found, unread)))
        return seen, outcome

    @property
    def _unlisted(self) -> bool:
        return self.documents.source == "hub" and self.documents.sizes is None

    @property
    def _module_files(self) -> list[str]:
        documents = self.documents
        return weight_files(documents.companions, documents.sizes or ())

    def _modules(self, wanted: Collection[str]) -> Mapping[str, Shard]:
        """Weight files of modules, as far as they can be read."""
        if not wanted:
            return {}
        from hfcount.checkpoints.sentence_transformers.weights import read_weights  # most checkpoints have none

        with suppress(FetchError):  # then it is said that they were not opened
            return read_weights(self.documents.shards, wanted, self.options.progress)
        return {}

    def _need_of_headers(self, seen: Evidence, found: Weights, outcome: Outcome) -> str | None:
        """Why headers are needed; None if the index and the sizes of its files settle it."""
        if seen.index is None:
            return "there is no index"
        if found.whole and not found.there and not found.beside:
            return None  # there are none
        if self._unlisted:
            return _UNLISTED
        if any(finding.proof == "lost" for finding in outcome.findings):
            return "the weights are quantised"
        if outcome.settled and outcome.has("HF203"):
            return "a tied weight is stored, and may be no copy"
        return outcome.doubt if outcome.settled else "the index alone does not add up"

    def _kept(self, found: Weights) -> Literal["all", "some"] | None:
        """Which headers earlier runs have read of the commit: a verdict must not forget what they saw."""
        wanted = {*found.there, *found.beside}
        kept = wanted.intersection(self.documents.shards.kept)
        return ("all" if kept == wanted else "some") if kept else None

    def _unopened(self, seen: Evidence, found: Weights, outcome: Outcome, kept: str | None) -> Failure | None:
        """Why the index does not settle it, where headers were not to be read."""
        if seen.index is None:
            return Failure(kind="NoIndex", message=nothing_to_compare(self.documents, found))
        if any(finding.severity == "error" for finding in outcome.findings):
            return None
        doubt = _UNLISTED if self._unlisted else outcome.doubt
        doubt = doubt or (kept and "an earlier run has read the headers of some of the files of this commit")
        return Failure(kind="NotOpened", message=f"{doubt}. --depth headers tells.") if doubt else None

    def _headers(self, seen: Evidence, found: Weights, outcome: Outcome) -> tuple[Evidence, Outcome]:
        """By the headers, as far as they can be read; else the result from the index stays."""
        documents, modules = self.documents, [name for name in self._module_files if name not in seen.others]
        others = [name for name in modules if name.endswith(".safetensors")]
        wanted = [*found.there, *found.beside, *others]
        try:
            read = documents.shards.read(wanted, self.options.progress(len(wanted)))
        except FetchError as error:
            return replace(seen, unseen=Failure(kind=error.kind, message=str(error))), outcome
        headers = {name: one for name, one in read.items() if name not in others} or None
        further = {name: read[name] for name in others if name in read}
        pickled = self._modules([name for name in modules if name not in others])
        seen = replace(seen, headers=headers, others={**seen.others, **further, **pickled})
        unread = _unread(seen, found)
        if unread and found.sizes is not None and (headers or self.options.depth == "headers" or outcome.doubt):
            seen = replace(seen, unseen=Failure(kind="NoHeaders", message=not_read(documents, found, unread)))
        if headers is not None:
            return self._by_headers(seen, found, headers, outcome)
        if seen.index is None:
            seen = replace(seen, unseen=Failure(kind="NoHeaders", message=nothing_to_compare(documents, found)))
        return replace(seen, depth_reason=None), outcome

    def _by_headers(
        self, seen: Evidence, found: Weights, headers: Mapping[str, Shard], outcome: Outcome
    ) -> tuple[Evidence, Outcome]:
        shards = {name: one for name, one in headers.items() if name in found.named}
        beside = {name: one for name, one in headers.items() if name not in found.named}
        match = outcome.match
        if not shards and found.whole:  # the index is of other files than those that are there
            match, shards, beside, seen = None, beside, {}, replace(seen, stale=True)
        seen = replace(seen, shards=shards, depth="headers")

        def compare(match: Match | None, samples: Samples = MappingProxyType({})) -> Outcome:
            return verify(
                self.blueprint,
                seen.fitting_index,
                shards,
                announced=self.announced,
                match=match,
                weights=found,
                beside=beside,
                samples=samples,
                modules=seen.others,
            )

        outcome = compare(match)
        if outcome.pieces:
            with suppress(FetchError):  # then it is said that they were not compared
                seen = replace(seen, samples=self.documents.shards.sample(outcome.pieces))
        return seen, compare(outcome.match, seen.samples) if seen.samples else outcome


def _unread(seen: Evidence, found: Weights) -> list[str]:
    """The files of the model that may be there, and whose headers were not read."""
    return [name for name in found.there if name not in (seen.headers or ())]
