"""A growing window of the first bytes of a GGUF file."""

from struct import Struct

from hfcount.errors import DocumentError
from hfcount.formats.window import Read

FIRST = 1 << 20
"""Bytes of the first range; each further one has twice those of the one before."""

MAX_HEADER = 64_000_000
"""Bytes: a longer header is refused."""

_LENGTH = Struct("<Q")


class HeaderWindow:
    """A file from `start` on, as far as it was read.

    Args:
        where: the file, as messages name it.
        size: of the file in bytes; None if unknown.
        read: gives a range of the file.
    """

    def __init__(self, where: str, size: int | None, read: Read, start: int = 0) -> None:
        self.where, self.size, self.start = where, size, start
        self.bytes = bytearray()
        self._read, self._step, self._fixed = read, FIRST, False

    @classmethod
    def part(cls, where: str, size: int, read: Read, start: int, stop: int) -> "HeaderWindow":
        """One range of a file, which does not grow."""
        window = cls(where, size, read, start)
        window.bytes, window._fixed = bytearray(read(start, stop)), True
        return window

    def first(self, count: int) -> bytes:
        """The first bytes of the file, fewer if it is shorter."""
        if not self.bytes:
            self.bytes += self._read(0, min(FIRST, FIRST if self.size is None else self.size))
            self._step = 2 * FIRST
        return bytes(self.bytes[:count])

    def need(self, place: int, count: int) -> None:
        """Reads on until `count` bytes from `place` of the file on are there.

        Raises:
            DocumentError: HF004, the file ends before; HF003, the header is too long.
        """
        stop = place + count - self.start
        while stop > len(self.bytes):
            self._grow(place + count)

    def _grow(self, stop: int) -> None:
        have = self.start + len(self.bytes)
        if self.size is not None and stop > self.size:
            raise self._cut(self.size, stop)
        if self._fixed or stop > MAX_HEADER:
            raise DocumentError(
                f"{self.where} has a header of more than {MAX_HEADER:,} bytes: one of its lengths reaches up to byte"
                f" {stop:,}. Its first bytes are damaged.",
                "HF003",
            )
        until = min(max(stop, have + self._step), MAX_HEADER, MAX_HEADER if self.size is None else self.size)
        more = self._read(have, until)
        if not more:
            raise self._cut(have, stop)
        self.bytes += more if len(more) <= until - have else more[: until - have]
        self._step *= 2

    def _cut(self, have: int, stop: int) -> DocumentError:
        text = f"{self.where} ends within its header: {have:,} bytes are there, and it goes on up to {stop:,} or more."
        return DocumentError(text, "HF004", fix="Download it again.", expected=stop, observed=have)

    def bound(self, count: int, least: int, most: int, what: str) -> None:
        """Checks a count before anything is made of it: each entry takes at least `least` bytes.

        Raises:
            DocumentError: HF003, there cannot be so many.
        """
        if self.size is not None and count * least > self.size:
            raise DocumentError(
                f"{self.where} announces {count:,} {what}, for which its {self.size:,} bytes have no room: its first"
                " bytes are damaged, or the file is cut.",
                "HF003",
            )
        if count > most:
            raise DocumentError(f"{self.where} announces {count:,} {what}; at most {most:,} are read.", "HF003")

    def skip_texts(self, place: int, count: int) -> int:
        """Where a list of so many texts ends that begins at `place`; none of them is kept."""
        unpack, buffer = _LENGTH.unpack_from, self.bytes
        limit = len(buffer) - 8
        for _ in range(count):
            if place > limit:
                self.need(place, 8)
                buffer = self.bytes
                limit = len(buffer) - 8
            place += 8 + unpack(buffer, place)[0]
        self.need(place, 0)
        return place
