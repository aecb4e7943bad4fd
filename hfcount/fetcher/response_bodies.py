"""Checks and decompresses the bodies of HTTP answers."""

import re
import zlib
from collections.abc import Callable
from time import monotonic

import requests
from urllib3.exceptions import HTTPError

from hfcount.errors import FetchError
from hfcount.fetcher.retry import Deadline
from hfcount.text import printable

_SPENT = 1 << 14
"""Bytes of the longest body that is read so that its connection serves the next request, too."""

_PATIENCE = 2.0  # seconds for such a body, which most often comes with the headers


def spend(response: requests.Response, deadline: Deadline) -> None:
    """Lets go of an answer whose body says nothing; its connection is kept where the body is short and at hand.

    The Hub redirects every weight file to another host, with a body of a kilobyte. A connection that is closed there
    costs each file a new one.

    Raises:
        FetchError: time is up.
    """
    raw, length, left = response.raw, claimed_length(response), _SPENT
    end = monotonic() + _PATIENCE
    try:
        while left > 0 and monotonic() < end and (raw.chunked if length is None else length <= _SPENT):
            deadline.check()
            if socket := getattr(raw.connection, "sock", None):  # each request sets its own time
                socket.settimeout(max(min(_PATIENCE, deadline.left()), 0.001))
            left -= len(piece := raw.read1(left, decode_content=False))
            if not piece:
                break
    except (HTTPError, OSError):
        pass
    finally:
        response.close()


def claimed_length(response: requests.Response) -> int | None:
    """The length of the body that an answer claims; None where it claims none that a body could have."""
    claimed = response.headers.get("Content-Length", "")
    return int(claimed) if re.fullmatch(r"[0-9]{1,18}", claimed) else None


def too_long(what: str, observed: str, cap: int) -> FetchError:
    """The error for a document that is too long."""
    return FetchError("UnreadableFile", f"{what} has {observed}; at most {cap:,} are read.")


def unpacker(what: str, encoding: str) -> Callable[[bytes, int], bytes]:
    """A function that decompresses pieces of a body, at most so many bytes of each."""
    if encoding in ("", "identity"):
        return lambda piece, most: piece
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchError("HubError", f"{what} comes as {printable(encoding, 40)}, which hfcount did not ask for.")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return inflate.decompress(piece, most)
        except zlib.error:
            raise FetchError("HubError", f"{what} is labelled {encoding}, but is not.") from None

    return unpack


def content_range(what: str, value: str, begin: int, end: int) -> int:
    """The size of the whole file, once the range is the one that was asked for."""
    parts = re.fullmatch(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})", value)
    if parts:
        first, last, size = map(int, parts.groups())
        if first == begin and last == min(end, size) - 1:
            return size
    raise FetchError(
        "HubError",
        f"{what}: asked for bytes {begin:,} to {end - 1:,}, but the server answered with Content-Range"
        f" {printable(value or 'missing', 60)}.",
    )
