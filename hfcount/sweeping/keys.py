"""A set of keys that stays small however many there are: 64 bits of a digest of each, sorted in buckets."""

from array import array
from bisect import bisect_left
from hashlib import blake2b

_BITS = 12  # of the digest choose the bucket


class Keys:
    """Digests of keys: some 9 bytes a key, and one in 10^7 chances of a false hit among two million."""

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(1 << _BITS)]

    def add(self, *parts: str | None) -> bool:
        """Adds a key; whether it is new."""
        number = int.from_bytes(blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).digest())
        bucket = self._buckets[number >> (64 - _BITS)]
        place = bisect_left(bucket, number)
        if place < len(bucket) and bucket[place] == number:
            return False
        bucket.insert(place, number)
        return True

    def __len__(self) -> int:
        return sum(map(len, self._buckets))
