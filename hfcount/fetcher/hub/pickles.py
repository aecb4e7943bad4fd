"""Reads pickled weight files of a repo of the Hub: their first and last 64 KiB, and what their directories need."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client, Denied, Empty
from hfcount.fetcher.connections import workers
from hfcount.fetcher.interface import Pickles, Progress
from hfcount.formats.pickles import HEAD, TAIL, PickleSet
from hfcount.text import printable

_ALL = 500_000_000
"""Bytes beyond the first and the last range that are read of all files of a repo."""

_ZIP = b"PK\3\4"


class _Ends(NamedTuple):
    """Bytes at the beginning and at the end of a file, and its size."""

    size: int
    head: bytes
    tail: bytes = b""


def read_pickles(
    client: Client,
    urls: Mapping[str, str],
    sizes: Mapping[str, int | None],
    refused: Callable[[Denied, str], FetchError],
    done: Progress,
) -> Pickles:
    """What the files behind `urls` hold; one that is not there is left out.

    The ends of several files are read at a time, and parsed one after the other: a parsed file has many times the
    bytes of its pickle.

    Args:
        sizes: bytes of the files, as far as they are listed.
        refused: the error for an answer without the file.

    Raises:
        FetchError: a server could not be reached, refused, does not serve ranges, or sent other bytes meanwhile.
    """
    pickles, room = PickleSet(), _ByteBudget()
    files = {name: _File(client, name, url, refused, room) for name, url in urls.items()}
    with ThreadPoolExecutor(many := workers(client.round_trip)) as pool:
        waiting = list(files)
        reading: dict[str, Future[_Ends | None]] = {}
        try:
            while waiting or reading:
                while waiting and len(reading) < 2 * many:  # so that not all ends of a large set wait to be parsed
                    name = waiting.pop(0)
                    reading[name] = pool.submit(files[name].ends, sizes.get(name))
                name = next(iter(reading))
                if (ends := reading.pop(name).result()) is not None:
                    pickles.look(name, ends.size, _Reader(files[name], ends).read)
                    client.deadline.check()
                done()
        except BaseException:
            client.deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return pickles.files


class _File(NamedTuple):
    """A file, and how it is read."""

    client: Client
    name: str
    url: str
    refused: Callable[[Denied, str], FetchError]
    room: "_ByteBudget"

    def ends(self, size: int | None) -> _Ends | None:
        """The beginning and the end; None where there is no such file.

        Args:
            size: bytes of the file, if that is known: a short one is then read at once.
        """
        what = printable(self.name)
        try:
            short = size is not None and size <= HEAD + TAIL
            head, size = self.client.range(what, self.url, 0, HEAD + TAIL if short else HEAD)
        except Empty:
            return _Ends(0, b"")
        except Denied as denied:
            if denied.status == 404 and denied.code in ("", "EntryNotFound"):
                return None
            raise self.refused(denied, what) from None
        begin = max(len(head), size - TAIL)
        return _Ends(size, head, self.range(begin, size, size) if head.startswith(_ZIP) and begin < size else b"")

    def range(self, start: int, stop: int, size: int) -> bytes:
        """The bytes of a range of a file that has `size`; raises FetchError if it has another one by now."""
        what = printable(self.name)
        try:
            raw, now = self.client.range(what, self.url, start, stop)
        except Empty:
            raw, now = b"", start
        except Denied as denied:
            raise self.refused(denied, what) from None
        if now != size or len(raw) != stop - start:
            raise FetchError(
                "HubError", f"{what} had {size:,} bytes, and {now:,} when it was read on: it has changed. Try again."
            )
        return raw


class _Reader(NamedTuple):
    """Gives the ranges of a file of which the ends are known."""

    file: _File
    ends: _Ends

    def read(self, start: int, stop: int) -> bytes:
        """The bytes of a range; raises FetchError as `_File.range` does."""
        size, head, tail = self.ends
        begin = size - len(tail)
        if stop <= len(head):
            return head[start:stop]
        if tail and begin <= len(head):
            return (head + tail[len(head) - begin :])[start:stop]
        if tail and start >= begin:
            return tail[start - begin : stop - begin]
        known = head[start:] if start < len(head) else b""
        self.file.room.take(stop - start - len(known))
        return known + self.file.range(start + len(known), stop, size)


class _ByteBudget:
    """A limit on the bytes to read."""

    def __init__(self) -> None:
        self._left = _ALL

    def take(self, size: int) -> None:
        """Raises FetchError when there is no room for `size` more bytes."""
        self._left -= size
        if self._left < 0:
            raise FetchError(
                "UnreadableFile",
                f"the directories of the pickled files have more than the {_ALL:,} bytes that are read.",
            )
