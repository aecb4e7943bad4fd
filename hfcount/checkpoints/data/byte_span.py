"""A part of a tensor, in bytes."""

from typing import NamedTuple


class Span(NamedTuple):
    """Bytes of a tensor, from its first on."""

    begin: int
    end: int
