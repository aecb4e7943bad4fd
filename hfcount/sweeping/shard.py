"""Splits a sweep into shards by a digest of the checkpoint's name, independent of order."""

import re
from dataclasses import dataclass
from hashlib import blake2b

MOST = 10_000
"""The most shards of a sweep."""

_WRITTEN = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number` (from 1) of `of` disjoint shards."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= MOST:
            raise ValueError(
                f"there is no shard {self.number} of {self.of}: shards count from 1, such as 1/5 to 5/5 (at most"
                f" {MOST:,})."
            )

    def has(self, model: str) -> bool:
        """Whether a checkpoint belongs to the shard; only its name decides."""
        digest = blake2b(model.encode("utf-8", "replace"), digest_size=8).digest()
        return int.from_bytes(digest) % self.of == self.number - 1

    @property
    def label(self) -> str:
        """The form in file names."""
        return f"{self.number}of{self.of}"

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(text: str) -> Shard:
    """Parses a shard, written `2/5`.

    Raises:
        ValueError: wrong syntax or number.
    """
    match = _WRITTEN.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:40]!r} is not a shard: write I/N, such as 2/5 for the second of five.")
    return Shard(int(match[1]), int(match[2]))
