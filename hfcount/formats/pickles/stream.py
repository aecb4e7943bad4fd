"""The bytes of pickles, read as needed, and what the pickles contain."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hfcount.formats.pickles.values import Storage, Tensor

MARGIN = 8
"""Bytes that an opcode reads without looking whether they are there: those behind the end are zeros."""


class Cut(Exception):
    """The bytes end before the pickle does."""


@dataclass(slots=True)
class PickleContents:
    """What the pickles of a file contain.

    Args:
        refused: names beyond torch's allow-list, in order; nobody calls them here.
        opcodes: opcodes that torch.load refuses, in order.
        protocol: of the last pickle; 0 where it does not say.
        storages: by key, as the first mention of each has them.
        tensors: all that were built.
    """

    refused: dict[str, None] = field(default_factory=dict)
    opcodes: dict[str, None] = field(default_factory=dict)
    protocol: int = 0
    storages: dict[str, Storage] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)


class Stream:
    """The bytes of consecutive pickles, read as needed.

    Args:
        raw: the first bytes.
        more: gives at least so many bytes from the beginning, or all there are; None if `raw` is all.
    """

    def __init__(self, raw: bytes, more: Callable[[int], bytes] | None = None) -> None:
        self._more = more
        self._keep(raw)

    def _keep(self, raw: bytes) -> None:
        self.end, self.raw = len(raw), raw + bytes(MARGIN)

    def reach(self, end: int) -> None:
        """Reads on until so many bytes are there, or all."""
        if self._more and end > self.end:
            before = self.end
            self._keep(self._more(end))
            if self.end == before:
                self._more = None
