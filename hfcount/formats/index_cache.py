"""Caches parsed indexes: fine-tunes and copies of a model often have the same, byte for byte."""

from threading import Lock

from hfcount.formats.index import Index, read_index
from hfcount.formats.json import Document

_MOST, _BYTES = 64, 16 << 20  # of documents; read, each takes some four times its bytes


class RecentIndexes:
    """Reads indexes as `read_index` does, but none again that is among the last it has read; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read: dict[bytes, Index] = {}  # the one that was used last comes last

    def __call__(self, document: Document) -> Index:
        """The index of a checkpoint; raises as `read_index` does."""
        with self._lock:
            index = self._read.pop(document.raw, None)
        index = index or read_index(document)
        with self._lock:
            self._read[document.raw] = index
            while len(self._read) > _MOST or sum(map(len, self._read)) > _BYTES:
                del self._read[next(iter(self._read))]
        return index
