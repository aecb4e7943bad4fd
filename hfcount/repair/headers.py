"""Renames tensors in safetensors headers, at the same length if possible."""

from collections.abc import Mapping

from hfcount.formats.safetensors import LENGTH_BYTES, Header
from hfcount.repair.members import with_keys

_ALIGNED = 8  # alignment of the data, in bytes


def renamed(header: Header, names: Mapping[str, str]) -> bytes:
    """The renamed header without its length field; a shorter one is padded with spaces."""
    raw = with_keys(header.raw.decode(), (), names).rstrip(" ").encode()
    if len(raw) <= header.length:
        return raw.ljust(header.length)
    return raw.ljust(-(-(LENGTH_BYTES + len(raw)) // _ALIGNED) * _ALIGNED - LENGTH_BYTES)
