"""Headers of weight files with other names, of the same length where that is possible."""

from collections.abc import Mapping

from hfcount.formats.safetensors import LENGTH_BYTES, Header
from hfcount.repair.members import with_keys

_ALIGNED = 8  # bytes that the data begins at a multiple of


def renamed(header: Header, names: Mapping[str, str]) -> bytes:
    """The bytes of a header with other names, without those of its length; what is shorter is padded with spaces."""
    raw = with_keys(header.raw.decode(), (), names).rstrip(" ").encode()
    if len(raw) <= header.length:
        return raw.ljust(header.length)
    return raw.ljust(-(-(LENGTH_BYTES + len(raw)) // _ALIGNED) * _ALIGNED - LENGTH_BYTES)
