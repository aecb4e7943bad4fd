"""Repairs names of adapter tensors that PEFT or vLLM do not recognize."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hfcount.checkpoints.adapter.inspect import SAFETENSORS, documents_of, inspect
from hfcount.checkpoints.adapter.names import PREFIX, read_names
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG
from hfcount.checkpoints.inspection import Inspection, Options, unwatched
from hfcount.fetcher.interface import Request
from hfcount.fetcher.location import FileReader, Place
from hfcount.formats.json import Document
from hfcount.formats.safetensors import LENGTH_BYTES, Shard
from hfcount.repair.headers import renamed
from hfcount.repair.state import Proposal, State
from hfcount.repair.working_copy import Change, NewHeader, WorkingCopy
from hfcount.text import plural

_NAMES = ("HF722", "HF728")


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """Reads the files of a place with pending changes applied."""

    reader: FileReader
    changes: Mapping[str, Change]

    def document(self, name: str) -> Document | None:
        """As FileReader has it."""
        return self.reader.document(name)

    def range(self, name: str, start: int, stop: int) -> bytes:
        """As FileReader has it."""
        change = self.changes.get(name)
        if not isinstance(change, NewHeader):
            return self.reader.range(name, start, stop)
        begin = len(change.new).to_bytes(LENGTH_BYTES, "little") + change.new
        if stop <= len(begin):
            return begin[start:stop]
        longer = len(change.new) - len(change.old)
        return begin[start:] + self.reader.range(name, max(start, len(begin)) - longer, stop - longer)

    def close(self) -> None:
        """As FileReader has it."""
        self.reader.close()


@dataclass
class AdapterState(State):
    """A draft of an adapter's folder.

    Args:
        place: the unchanged folder.
        base: the base model, as --base names it.
    """

    place: Place
    base: str | None

    @cached_property
    def run(self) -> Inspection:
        """The inspection of the changed folder."""
        changes = self.draft.changes
        sizes = self.draft.documents().sizes or {}
        place = self.place._replace(sizes=sizes, reader=ChangedFiles(self.place.reader, changes))
        return inspect(place, Request(self.place.model, base=self.base), Options())

    @cached_property
    def shards(self) -> Mapping[str, Shard]:
        """The adapter's file."""
        return self.draft.documents().shards.read([SAFETENSORS], unwatched(1))

    def with_changes(self, changes: Mapping[str, Change]) -> "AdapterState":
        """The same folder with more changes."""
        return AdapterState(self.draft.changed(changes), self.place, self.base)


def adapter_state(folder: Path, place: Place, base: str | None) -> AdapterState:
    """The state of an unchanged adapter folder."""
    document = place.reader.document(ADAPTER_CONFIG) or Document(ADAPTER_CONFIG, b"")
    return AdapterState(WorkingCopy(folder, documents_of(place, document, folder)), place, base)


def adapter_names(state: State) -> Iterator[Proposal]:
    """Proposes names with PEFT's prefix exactly once and without the adapter's name."""
    codes = frozenset(state.codes.intersection(_NAMES))
    shard = state.shards.get(SAFETENSORS)
    if not codes or shard is None or shard.header is None:
        return
    header = shard.header
    named = read_names(header.tensors)
    right = {old: new for new, old in named.without_module.items()}
    right |= {old: f"{PREFIX}{short}" for short, old in named.names.items()}
    names = {old: new for old, new in right.items() if old != new}
    if not names or len({*right.values()}) < len(header.tensors):
        return  # two would have the same name
    old, new = next(iter(names.items()))
    says = f"Rename {plural(len(names), 'tensor')}, such as {old} to {new}: only the header changes."
    yield Proposal(codes, says, {SAFETENSORS: NewHeader(header.raw, renamed(header, names))}, {SAFETENSORS: names})
