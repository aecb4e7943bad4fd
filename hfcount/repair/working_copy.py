"""A folder with pending changes, as hfcount would read it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hfcount.fetcher.interface import Documents, Pickles, Progress, Shards
from hfcount.fetcher.layout import BIN_INDEX, CONFIG, INDEX
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard, parse_header
from hfcount.formats.samples import Piece, Samples


class NewHeader(NamedTuple):
    """A header replacement in a weight file: the old and the new bytes, without the length field."""

    old: bytes
    new: bytes


class Link(NamedTuple):
    """A link in place of a file."""

    target: str


Change: TypeAlias = bytes | NewHeader | None
"""The change of a file: new bytes, a new header, or removal."""

Replacement: TypeAlias = Change | Link
"""What a file is replaced by: its change, or the link that it was."""


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """A folder as read, and the pending changes by file name."""

    folder: Path
    read: Documents
    changes: Mapping[str, Change] = field(default_factory=dict)

    def changed(self, more: Mapping[str, Change]) -> "WorkingCopy":
        """The draft with more changes, which replace earlier ones of the same file."""
        merged = dict(self.changes)
        for name, change in more.items():
            merged_change, before = change, merged.get(name)
            if isinstance(merged_change, NewHeader) and isinstance(before, NewHeader):
                merged_change = NewHeader(before.old, merged_change.new)
            merged[name] = merged_change
        return replace(self, changes=merged)

    def document(self, name: str) -> Document | None:
        """config.json, the index or another document, with changes applied."""
        standard = {CONFIG: self.read.config, INDEX: self.read.index}
        document = standard[name] if name in standard else self.read.companions.get(name)
        if name not in self.changes:
            return document
        change = self.changes[name]
        where = document.where if document else str(self.folder / name)
        return Document(where, change) if isinstance(change, bytes) else None

    def documents(self) -> Documents:
        """The documents with changes applied."""
        config, sizes = self.document(CONFIG), dict(self.read.sizes or {})
        assert config is not None
        for name, change in self.changes.items():
            if change is None:
                sizes.pop(name, None)
            elif isinstance(change, bytes):
                sizes[name] = len(change)
            else:
                sizes[name] = _moved(sizes.get(name), change)
        others = {**self.read.companions, **({BIN_INDEX: None} if BIN_INDEX in self.changes else {})}
        companions = {name: document for name in others if (document := self.document(name))}
        return self.read.replace(
            config=config,
            index=self.document(INDEX),
            shards=_DraftShards(self.read.shards, self.changes),
            files=[name for name in sizes if "/" not in name],
            sizes=sizes,
            companions=companions,
        )


class _DraftShards:
    """Weight files with changed headers, and without removed files."""

    local = True
    kept: Collection[str] = ()

    def __init__(self, shards: Shards, changes: Mapping[str, Change]) -> None:
        self._shards, self.whole = shards, shards.whole
        self._gone = {name for name, change in changes.items() if change is None}
        self._headed = {name: change for name, change in changes.items() if isinstance(change, NewHeader)}
        self.names: Collection[str] | None = [name for name in shards.names or () if name not in self._gone]

    def sizes(self, wanted: Collection[str]) -> Mapping[str, int | None] | None:
        sizes = self._shards.sizes([name for name in wanted if name not in self._gone])
        return sizes and {name: _moved(size, self._headed.get(name)) for name, size in sizes.items()}

    def read(self, wanted: Collection[str], done: Progress) -> Mapping[str, Shard]:
        shards = self._shards.read([name for name in wanted if name not in self._gone], done)
        return {name: self._shard(name, shard) for name, shard in shards.items()}

    def pickles(self, wanted: Collection[str], done: Progress) -> Pickles:
        return self._shards.pickles([name for name in wanted if name not in self._gone], done)

    def sample(self, wanted: Collection[Piece]) -> Samples:
        places = {self._piece(piece): piece for piece in wanted if piece.file not in self._gone}
        return {places[piece]: digest for piece, digest in self._shards.sample(list(places)).items()}

    def close(self) -> None:
        self._shards.close()

    def _shard(self, name: str, shard: Shard) -> Shard:
        if (change := self._headed.get(name)) is None:
            return shard
        return Shard(name, _moved(shard.size, change), parse_header(name, change.new))

    def _piece(self, piece: Piece) -> Piece:
        by = _moved(0, self._headed.get(piece.file)) or 0
        return piece._replace(begin=piece.begin - by, end=piece.end - by)


def _moved(size: int | None, change: Change) -> int | None:
    """The size of a file after a header change."""
    return size + len(change.new) - len(change.old) if isinstance(change, NewHeader) and size is not None else size
