"""The headers of weight files, by ranged reads: a few kilobytes of each."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client, Denied, Empty
from hfcount.fetcher.connections import WORKERS
from hfcount.fetcher.interface import Progress
from hfcount.formats.safetensors import Shard, header_end, read_shard
from hfcount.formats.samples import Piece, Samples, digest
from hfcount.text import printable

PREFETCH = 65_536
"""Bytes of the first request. Of 659 shards of published checkpoints, 656 have a header below this, and 555 one below
half of it."""


LONGEST, _ALL = 25_000_000, 100_000_000
"""Bytes of one header, and of all that need a second request: the Hub itself reads none that is longer."""


def read_headers(
    client: Client,
    urls: Mapping[str, str],
    done: Progress,
    refused: Callable[[Denied, str], FetchError] = Denied.error,
) -> dict[str, Shard]:
    """The shards behind `urls` (name to URL), several at a time; one that is not there is left out.

    Args:
        refused: says what an answer without the file means.

    Raises:
        FetchError: a server could not be reached, refused, or does not serve ranges. Then all others are left off.
    """
    found: dict[str, Shard] = {}
    room = _Room()
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = {
            pool.submit(_first_bytes, client, name, url, refused, room): name for name, url in sorted(urls.items())
        }
        try:
            for future in as_completed(list(futures)):
                name = futures.pop(future)  # which holds the bytes
                # Parsed here: workers that parse would take the interpreter's lock from those that wait.
                if (read := future.result()) is not None:
                    found[name] = read_shard(name, *read)
                done()
        except BaseException:
            client.deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return found


def read_pieces(
    client: Client, urls: Mapping[Piece, str], refused: Callable[[Denied, str], FetchError] = Denied.error
) -> Samples:
    """The digests of pieces of the files behind `urls`, several at a time; a piece that is not there is left out.

    Raises:
        FetchError: a server could not be reached, refused, or does not serve ranges. Then all others are left off.
    """

    def read(piece: Piece) -> bytes:
        try:
            return client.range(printable(piece.file), urls[piece], piece.begin, piece.end)[0]
        except Empty:
            return b""
        except Denied as denied:
            raise refused(denied, printable(piece.file)) from None

    with ThreadPoolExecutor(WORKERS) as pool:
        try:
            found = dict(zip(urls, pool.map(read, urls), strict=True))
        except BaseException:
            client.deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return {piece: digest(raw) for piece, raw in found.items() if len(raw) == piece.end - piece.begin}


class _Room:
    """How many bytes of long headers may yet be read, of one and of all."""

    def __init__(self) -> None:
        self._left, self._lock = _ALL, Lock()

    def take(self, what: str, size: int) -> None:
        """Raises FetchError when a header of `size` bytes is more than may be read."""
        with self._lock:
            self._left -= size
            if size > LONGEST:
                raise FetchError(
                    "UnreadableFile", f"{what} declares a header of {size:,} bytes; at most {LONGEST:,} are read."
                )
            if self._left < 0:
                raise FetchError("UnreadableFile", f"the headers have more than the {_ALL:,} bytes that are read.")


def _first_bytes(
    client: Client, name: str, url: str, refused: Callable[[Denied, str], FetchError], room: _Room
) -> tuple[int, bytes] | None:
    """A file's size and its bytes to the end of the header; None where there is no such file."""
    what = printable(name)
    try:
        first, size = client.range(what, url, 0, PREFETCH)
        if len(first) < (end := header_end(first, size)):
            room.take(what, end)
            first += client.range(what, url, len(first), end)[0]
    except Empty:
        return 0, b""
    except Denied as denied:
        if denied.status == 404 and denied.code in ("", "EntryNotFound"):
            return None
        raise refused(denied, what) from None
    return size, first
