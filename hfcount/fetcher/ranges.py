"""Reads the headers of remote weight files by ranged requests: a few kilobytes of each."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from threading import Lock

from hfcount.errors import FetchError
from hfcount.fetcher.client import Client, Denied, Empty
from hfcount.fetcher.connections import workers
from hfcount.fetcher.interface import Progress
from hfcount.formats.safetensors import Shard, header_end, read_shard
from hfcount.formats.samples import Piece, Samples, digest
from hfcount.text import printable

PREFETCH = 65_536
"""Bytes of the first request. Of 659 shards of published checkpoints, 656 have a header below this, and 555 one below
half of it."""

_SHORTEST, _LONG = 8_192, 262_144  # bytes of it where the index says how long headers are


def likely_length(index: int | None, shards: int) -> int:
    """How many bytes of each shard to ask for at first, so that most headers come whole.

    A header says of a tensor its name, dtype, shape and place, an index its name and a file: the first is at most twice
    as long. A short request is answered within the first packets of a connection.

    Args:
        index: bytes of the index; None where there is none.
        shards: how many files it names.
    """
    if index is None or not shards:
        return PREFETCH
    return max(_SHORTEST, min(_LONG, 2 * index // shards))


LONGEST, _ALL = 25_000_000, 100_000_000
"""Bytes of one header, and of all that take a second request: the Hub itself reads no longer one."""

_RUN = 1 << 20  # bytes of pieces that are read at once


class Headers:
    """Headers that are being read, several at a time.

    Args:
        urls: the address of each shard, by its name.
        refused: makes the error for an answer without the file.
        likely: bytes of each file that are asked for at first.
    """

    def __init__(
        self,
        client: Client,
        urls: Mapping[str, str],
        refused: Callable[[Denied, str], FetchError] = Denied.error,
        likely: int = PREFETCH,
    ) -> None:
        self._client, self._refused, self._likely, self._room = client, refused, likely, _ByteBudget()
        self._pool = ThreadPoolExecutor(workers(client.round_trip))
        self._reading = {name: self._read(name, url) for name, url in sorted(urls.items())}

    def _read(self, name: str, url: str) -> "Future[tuple[int, bytes] | None]":
        return self._pool.submit(_first_bytes, self._client, name, url, self._refused, self._room, self._likely)

    def collect(self, urls: Mapping[str, str], done: Progress) -> dict[str, Shard]:
        """The shards behind `urls`, those included that were not begun with; one that is not there is left out.

        Raises:
            FetchError: a server could not be reached, refused, or does not serve ranges. Then all others are left off.
        """
        shards: dict[str, Shard] = {}
        begun = self._reading
        self._reading = {name: begun.get(name) or self._read(name, url) for name, url in sorted(urls.items())}
        reading = {future: name for name, future in self._reading.items()}
        self._reading, begun = {}, {}  # which would hold the bytes
        try:
            for future in as_completed(list(reading)):
                name = reading.pop(future)  # which holds the bytes
                # Parsed here: workers that parse would take the interpreter's lock from those that wait.
                if (read := future.result()) is not None:
                    shards[name] = read_shard(name, *read)
                done()
        except BaseException:
            self._client.deadline.stop()
            raise
        finally:
            self.end()
        return shards

    def end(self) -> None:
        """Begins nothing more, and waits for what is on its way: the client's deadline cuts that short."""
        self._pool.shutdown(cancel_futures=True)


def read_pieces(
    client: Client, urls: Mapping[Piece, str], refused: Callable[[Denied, str], FetchError] = Denied.error
) -> Samples:
    """The digests of pieces of the files behind `urls`, several at a time; a piece that is not there is left out.

    Raises:
        FetchError: a server could not be reached, refused, or does not serve ranges. Then all others are left off.
    """

    def read(run: list[Piece]) -> dict[Piece, str]:
        first, last = run[0], run[-1]
        try:
            raw = client.range(printable(first.file), urls[first], first.begin, last.end)[0]
        except Empty:
            return {}
        except Denied as denied:
            raise refused(denied, printable(first.file)) from None
        parts = {piece: raw[piece.begin - first.begin : piece.end - first.begin] for piece in run}
        return {piece: digest(part) for piece, part in parts.items() if len(part) == piece.end - piece.begin}

    with ThreadPoolExecutor(workers(client.round_trip)) as pool:
        try:
            batches = list(pool.map(read, _runs(urls)))
        except BaseException:
            client.deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return {piece: value for digests in batches for piece, value in digests.items()}


def _runs(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Pieces that follow one another in a file, which one request reads."""
    runs: list[list[Piece]] = []
    for piece in sorted(pieces):
        last = runs[-1] if runs else None
        if last and last[-1].file == piece.file and last[-1].end == piece.begin and piece.end - last[0].begin <= _RUN:
            last.append(piece)
        else:
            runs.append([piece])
    return runs


class _ByteBudget:
    """A limit on the bytes of long headers, of one and of all."""

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
    client: Client, name: str, url: str, refused: Callable[[Denied, str], FetchError], room: _ByteBudget, likely: int
) -> tuple[int, bytes] | None:
    """A file's size and its bytes to the end of the header; None where there is no such file."""
    what = printable(name)
    try:
        first, size = client.range(what, url, 0, likely)
        if len(first) < (end := header_end(first, size)):
            if end > PREFETCH:
                room.take(what, end)
            first += client.range(what, url, len(first), end)[0]
    except Empty:
        return 0, b""
    except Denied as denied:
        if denied.status == 404 and denied.code in ("", "EntryNotFound"):
            return None
        raise refused(denied, what) from None
    return size, first
