"""Reads ranges of a file, each once, from a folder or a Hub."""

from collections.abc import Callable

from hfcount.errors import DocumentError

Read = Callable[[int, int], bytes]
"""Reads the bytes of a file from `start` up to, not including, `stop`."""


class TooLarge(DocumentError):
    """A file has more bytes or values than are read, so it is not judged."""


class Window:
    """The ranges of a file that were read so far.

    Args:
        read: gives the bytes of one range; fewer only if the file is shorter than `size` says.
        size: bytes of the file.
    """

    def __init__(self, read: Read, size: int) -> None:
        self._read, self.size = read, size
        self._pieces: list[tuple[int, bytes]] = []

    def range(self, start: int, stop: int) -> bytes:
        """The bytes of a range, as far as the file has them; what is not known yet is read, in one range."""
        start, stop = max(start, 0), min(stop, self.size)
        if stop <= start:
            return b""
        known = self.peek(start, stop)
        if known is not None:
            return known
        head = next((piece for piece in self._pieces if piece[0] <= start < piece[0] + len(piece[1])), (start, b""))
        tail = next((piece for piece in self._pieces if piece[0] < stop <= piece[0] + len(piece[1])), (stop, b""))
        begin = head[0] + len(head[1])
        middle = self._read(begin, tail[0])
        if len(middle) < tail[0] - begin:  # the file is shorter than it was said to be
            tail = (tail[0], b"")
        self._pieces = [piece for piece in self._pieces if piece not in (head, tail)]
        self._pieces.append((head[0], head[1] + middle + tail[1]))
        return self._slice(head[0], self._pieces[-1][1], start, stop)

    def peek(self, start: int, stop: int) -> bytes | None:
        """The bytes of a range if all of it was read already; None otherwise."""
        for begin, piece in self._pieces:
            if begin <= start and stop <= begin + len(piece):
                return self._slice(begin, piece, start, stop)
        return None

    @staticmethod
    def _slice(begin: int, piece: bytes, start: int, stop: int) -> bytes:
        return piece[start - begin : stop - begin]
