"""The state of a folder under repair: its draft, the findings in it, and proposals."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hfcount.checkpoints.inspect import examine, report_of
from hfcount.checkpoints.inspection import Inspection, Options, unwatched
from hfcount.checkpoints.report import findings_of, readings_of
from hfcount.errors import DocumentError
from hfcount.fetcher.layout import CONFIG, INDEX
from hfcount.fetcher.weights import weights
from hfcount.formats.index import read_index
from hfcount.formats.json import parse_object
from hfcount.formats.safetensors import Shard
from hfcount.repair.working_copy import Change, WorkingCopy
from hfcount.report.model import Report
from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.loader import Loader, Reading

BLINDING = {"HF001", "HF002", "HF003", "HF004", "HF005", "HF006", "HF007", "HF205", "HF206"}
"""Findings that leave the stored contents unknown and may hide others."""

ENTRY = re.compile(r'"([^"\\]+)"\s*:\s*"[^"\\]+\.(?:safetensors|bin)"')
"""Matches an entry of an index."""

TOTALS = ("HF401", "HF403")
"""Findings of totals, which may appear when a loss is accepted."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A possible repair.

    Args:
        codes: codes of the findings that it removes.
        says: its description, one sentence.
        changes: the new content of each file.
        names: renamed tensors (old to new), by file.
        keys: keys of config.json whose new values need proof.
        doubt: why it is not made by default, in sentences.
        chosen: whether the user gave these values.
    """

    codes: frozenset[str]
    says: str
    changes: Mapping[str, Change]
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    doubt: str = ""
    chosen: bool = False


@dataclass
class State:
    """A draft and its findings.

    Args:
        draft: the folder with what is changed in it.
        loader: the loader that repairs are asked for, besides those that the checkpoint is made for.

    Raises:
        FetchError, UnknownArchitecture: as a run on the folder would.
    """

    draft: WorkingCopy
    loader: Loader | None = field(default=None, kw_only=True)

    @cached_property
    def run(self) -> Inspection:
        """The inspection."""
        return examine(self.draft.documents(), Options(loaders=(self.loader,) if self.loader else ()))

    @cached_property
    def report(self) -> Report:
        """The report."""
        return report_of(self.run)

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, those of the loaders that the checkpoint is made for, or that is asked for, among them."""
        return findings_of(self.run)

    @cached_property
    def readings(self) -> Mapping[Loader, Reading]:
        """What each loader makes of it."""
        return {reading.loader: reading for reading in readings_of(self.run)}

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all findings."""
        return frozenset(code for finding in self.findings for code in finding.codes)

    @cached_property
    def shards(self) -> Mapping[str, Shard]:
        """All weight files that a loader may read, by name, indexed or not."""
        documents = self.draft.documents()
        files = weights(documents, None)
        wanted = [*files.there, *files.beside]
        return documents.shards.read(wanted, unwatched(len(wanted)))

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """Tensors named by the original index that no file holds."""
        if self.draft.changes:
            return State(WorkingCopy(self.draft.folder, self.draft.read)).gone
        held = {name for shard in self.shards.values() if shard.header for name in shard.header.tensors}
        return tuple(name for name in self._announced if name not in held)

    @property
    def silent(self) -> bool:
        """Whether the original folder had no readable index."""
        try:
            return not read_index(self.draft.read.index).weight_map if self.draft.read.index else True
        except DocumentError:
            return True

    @property
    def _announced(self) -> list[str]:
        """Names in the index, even if truncated."""
        try:
            return [*read_index(self.draft.read.index).weight_map] if self.draft.read.index else []
        except DocumentError:
            return ENTRY.findall(self.text(INDEX))

    def text(self, name: str) -> str:
        """config.json or an index as text; empty if missing or not UTF-8."""
        document = self.draft.document(name)
        try:
            return document.raw.decode() if document else ""
        except UnicodeDecodeError:
            return ""

    @property
    def sound(self) -> bool:
        """Whether the stored contents are known and match the config."""
        return not {finding.code for finding in self.findings if finding.blocks} - {"HF401"}

    @cached_property
    def config(self) -> str:
        """config.json as text."""
        return self.text(CONFIG)

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """config.json as values; empty if unreadable."""
        document = self.draft.document(CONFIG)
        try:
            return parse_object(document, endless=True) if document else {}
        except DocumentError:
            return {}

    @cached_property
    def index(self) -> str:
        """The index as text; empty if missing."""
        return self.text(INDEX)

    def about(self, *codes: str) -> Iterator[Finding]:
        """Findings with these codes."""
        return (finding for finding in self.findings if not finding.codes.isdisjoint(codes))

    def with_changes(self, changes: Mapping[str, Change]) -> "State":
        """The state after more changes."""
        return State(self.draft.changed(changes), loader=self.loader)

    def worsens(self, other: "State", apart: Collection[str] = ()) -> bool:
        """Whether the other state has errors that this one lacks, apart from these codes."""
        conclusive = self.run.blueprint is not None and BLINDING.isdisjoint(self.codes)
        more = other._differing - self._differing
        return any(conclusive or severity == "error" for code, severity in more if code not in apart)

    @property
    def _differing(self) -> Counter[tuple[str, str]]:
        """The number of affected tensors by (code, severity); 1 for each note to repair."""
        counts: Counter[tuple[str, str]] = Counter()
        for primary in self.findings:
            for finding in (primary, *primary.joined):
                key = finding.code, "error" if finding.blocks else finding.severity
                if finding.blocks:
                    counts[key] += max(finding.count, 1)
                elif finding.advises and not finding.informational:
                    counts[key] = 1
        if unseen := self.run.evidence.unseen:
            counts[unseen.kind, "error"] += 1
        return counts
