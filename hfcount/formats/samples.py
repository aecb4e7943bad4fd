"""Pieces of weight files and their digests."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """Bytes `begin` to `end` of a file, the end not included."""

    file: str
    begin: int
    end: int


Samples = Mapping[Piece, str]
"""The digest of each piece that was read."""


def digest(raw: bytes) -> str:
    """The digest that represents some bytes in comparisons."""
    from hashlib import sha256  # which loads OpenSSL, and is seldom needed

    return sha256(raw).hexdigest()


def written(samples: Samples) -> dict[str, dict[str, str]]:
    """The samples as a recording has them: digests by `begin-end`, by file."""
    digests: dict[str, dict[str, str]] = {}
    for piece in sorted(samples):
        digests.setdefault(piece.file, {})[f"{piece.begin}-{piece.end}"] = samples[piece]
    return digests


def read(recorded: Any) -> Samples:
    """The inverse of `written`.

    Raises:
        ValueError: it does not have that form.
    """
    samples = {}
    if not isinstance(recorded, dict) or not all(isinstance(value, dict) for value in recorded.values()):
        raise ValueError
    for file, digests in recorded.items():
        for place, value in digests.items():
            begin, _, end = place.partition("-")
            if not isinstance(value, str):
                raise ValueError
            samples[Piece(file, int(begin), int(end))] = value
    return samples
