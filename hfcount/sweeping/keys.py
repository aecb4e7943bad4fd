"""A compact set of keys: 64-bit digests, sorted in buckets."""

from array import array
from bisect import bisect_left
from hashlib import blake2b

_BITS = 12  # of the digest that select the bucket


class Keys:
    """Digests of keys: some 9 bytes a key, and one in 10^7 chances of a false hit among two million."""

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(1 << _BITS)]

    def add(self, *parts: str | None) -> bool:
        """Adds a key and returns whether it is new."""
        bucket, place, number, there = self._place(parts)
        if not there:
            bucket.insert(place, number)
        return not there

    def __contains__(self, parts: tuple[str | None, ...]) -> bool:
        return self._place(parts)[-1]

    def _place(self, parts: tuple[str | None, ...]) -> "tuple[array[int], int, int, bool]":
        """The bucket of a key, its position and digest there, and whether it is present."""
        number = int.from_bytes(blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest())
        bucket = self._buckets[number >> (64 - _BITS)]
        place = bisect_left(bucket, number)
        return bucket, place, number, place < len(bucket) and bucket[place] == number

    def __len__(self) -> int:
        return sum(map(len, self._buckets))
