"""Bodies of answers: what they claim to be, and what they are turned into."""

import re
import zlib
from collections.abc import Callable

import requests

from hfcount.errors import FetchError
from hfcount.text import printable


def claimed_length(response: requests.Response) -> int | None:
    """The length of the body that an answer claims; None where it claims none that a body could have."""
    claimed = response.headers.get("Content-Length", "")
    return int(claimed) if re.fullmatch(r"[0-9]{1,18}", claimed) else None


def too_long(what: str, found: str, cap: int) -> FetchError:
    """What is said of a document that is not read."""
    return FetchError("UnreadableFile", f"{what} has {found}; at most {cap:,} are read.")


def unpacker(what: str, encoding: str) -> Callable[[bytes, int], bytes]:
    """What turns pieces of a body into what they stand for, at most so many bytes of it."""
    if encoding in ("", "identity"):
        return lambda piece, most: piece
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchError("HubError", f"{what} comes as {printable(encoding, 40)}, which was not asked for.")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)

    def unpack(piece: bytes, most: int) -> bytes:
        try:
            return inflate.decompress(piece, most)
        except zlib.error:
            raise FetchError("HubError", f"{what} is said to be {encoding}, and is not.") from None

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
        f"{what}: asked for bytes {begin:,} to {end - 1:,}, and the server answers with Content-Range"
        f" {printable(value or 'missing', 60)}.",
    )
