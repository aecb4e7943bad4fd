"""A draft of a folder with all that hfcount finds in it, and what may be done about that."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hfcount.checkpoints.inspect import examine, report_of
from hfcount.checkpoints.inspection import Inspection, Options, unwatched
from hfcount.errors import DocumentError
from hfcount.fetcher.layout import CONFIG, INDEX
from hfcount.fetcher.weights import weights
from hfcount.formats.index import read_index
from hfcount.formats.json import parse_object
from hfcount.formats.safetensors import Shard
from hfcount.repair.working_copy import Change, Draft
from hfcount.report.model import Report
from hfcount.verifier.finding import Finding

BLINDING = {"HF001", "HF002", "HF003", "HF004", "HF005", "HF006", "HF007", "HF205", "HF206"}
"""Findings that leave open what is stored, so that others may come to light after them."""

ENTRY = re.compile(r'"([^"\\]+)"\s*:\s*"[^"\\]+\.(?:safetensors|bin)"')
"""One tensor in an index."""

TOTALS = ("HF401", "HF403")
"""Findings of totals, which may count what was lost, and then come to light where a loss is accepted."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A repair that is to be proven.

    Args:
        codes: the codes of the findings that it is to end.
        says: what it does, in a sentence.
        changes: what becomes of which file.
        names: tensors that get another name, by file.
        keys: keys of config.json whose new values what is stored has to prove.
        doubt: why it is not done unasked, in sentences; what it gives up, or what else may be meant.
        chosen: whether somebody has asked for these very values.
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
    """A draft, and what hfcount finds in it.

    Raises:
        FetchError, UnknownArchitecture: as a run on the folder would.
    """

    draft: Draft

    @cached_property
    def run(self) -> Inspection:
        """All that is found."""
        return examine(self.draft.documents(), Options())

    @cached_property
    def report(self) -> Report:
        """What hfcount would say of the folder."""
        return report_of(self.run)

    @property
    def findings(self) -> list[Finding]:
        """What differs."""
        return self.run.outcome.findings

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all that differs."""
        return frozenset(code for finding in self.findings for code in finding.codes)

    @cached_property
    def shards(self) -> Mapping[str, Shard]:
        """All weight files that a loader may take, by name, whether or not an index names them."""
        documents = self.draft.documents()
        files = weights(documents, None)
        wanted = [*files.there, *files.beside]
        return documents.shards.read(wanted, unwatched(len(wanted)))

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """Tensors that the index, as it was read, names and that no file has, though they were saved."""
        if self.draft.changes:
            return State(Draft(self.draft.folder, self.draft.read)).gone
        held = {name for shard in self.shards.values() if shard.header for name in shard.header.tensors}
        return tuple(name for name in self._announced if name not in held)

    @property
    def silent(self) -> bool:
        """Whether there was no index, as the folder was read, whose totals could be read."""
        try:
            return not read_index(self.draft.read.index).weight_map if self.draft.read.index else True
        except DocumentError:
            return True

    @property
    def _announced(self) -> list[str]:
        """The names in the index, also in one that is cut off."""
        try:
            return [*read_index(self.draft.read.index).weight_map] if self.draft.read.index else []
        except DocumentError:
            return ENTRY.findall(self.text(INDEX))

    def text(self, name: str) -> str:
        """config.json or an index, as text; empty if it is not there or is no text."""
        document = self.draft.document(name)
        try:
            return document.raw.decode() if document else ""
        except UnicodeDecodeError:
            return ""

    @property
    def sound(self) -> bool:
        """Whether what is stored is known, and is what the config describes."""
        return not {finding.code for finding in self.findings if finding.blocks} - {"HF401"}

    @cached_property
    def config(self) -> str:
        """config.json as text."""
        return self.text(CONFIG)

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """config.json as values; none if it cannot be read."""
        document = self.draft.document(CONFIG)
        try:
            return parse_object(document, endless=True) if document else {}
        except DocumentError:
            return {}

    @cached_property
    def index(self) -> str:
        """The index as text; empty if it is not there."""
        return self.text(INDEX)

    def about(self, *codes: str) -> Iterator[Finding]:
        """The findings of these codes."""
        return (finding for finding in self.findings if not finding.codes.isdisjoint(codes))

    def with_changes(self, changes: Mapping[str, Change]) -> "State":
        """The same folder with more changes."""
        return State(self.draft.changed(changes))

    def worsens(self, other: "State", apart: Collection[str] = ()) -> bool:
        """Whether the other state has something against it that this one has not, `apart` from these codes."""
        conclusive = self.run.blueprint is not None and BLINDING.isdisjoint(self.codes)
        more = other._differing - self._differing
        return any(conclusive or severity == "error" for code, severity in more if code not in apart)

    @property
    def _differing(self) -> Counter[tuple[str, str]]:
        """In how many tensors something is wrong in which way, and which notes there are to be mended."""
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
