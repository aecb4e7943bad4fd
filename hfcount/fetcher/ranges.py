"""The headers of weight files, by ranged reads: a few kilobytes of each."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed

from hfcount.errors import FetchError
from hfcount.fetcher.client import WORKERS, Client, Denied, Empty
from hfcount.fetcher.interface import Progress
from hfcount.formats.safetensors import Shard, header_end, read_shard
from hfcount.text import printable

PREFETCH = 65_536
"""Bytes of the first request. Of 659 shards of published checkpoints, 656 have a header below this, and 555 one below
half of it."""


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
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = {pool.submit(_first_bytes, client, name, url, refused): name for name, url in sorted(urls.items())}
        try:
            for future in as_completed(futures):
                # Parsed here: workers that parse would take the interpreter's lock from those that wait.
                if (read := future.result()) is not None:
                    found[futures[future]] = read_shard(futures[future], *read)
                done()
        except BaseException:
            client.deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return found


def _first_bytes(
    client: Client, name: str, url: str, refused: Callable[[Denied, str], FetchError]
) -> tuple[int, bytes] | None:
    """A file's size and its bytes to the end of the header; None where there is no such file."""
    what = printable(name)
    try:
        first, size = client.range(what, url, 0, PREFETCH)
        if len(first) < (end := header_end(first, size)):
            first += client.range(what, url, len(first), end)[0]
    except Empty:
        return 0, b""
    except Denied as denied:
        if denied.status == 404 and denied.code in ("", "EntryNotFound"):
            return None
        raise refused(denied, what) from None
    return size, first
