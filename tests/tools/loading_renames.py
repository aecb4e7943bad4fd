"""Finds by which prefixes the names that a version wants differ from those that are stored."""

from collections.abc import Iterable
from itertools import takewhile

Pairs = list[list[str]]


def reads(name: str, pair: list[str]) -> bool:
    """Whether a stored name is read although names with the first prefix are wanted with the second."""
    first, second = pair
    return not name.startswith(first) or (name.startswith(second) and not first.startswith(second))


def pairs(missing: Iterable[str], unexpected: Iterable[str], stored: Iterable[str]) -> tuple[Pairs, list[str]]:
    """The prefixes by which names differ that end alike, and the missing names that no unexpected one fits."""
    left, found, taken = list(missing), list[list[str]](), set[str]()
    lost = list(unexpected)
    kept = sorted(set(stored) - set(lost))
    for name in lost:
        parts = name.split(".")
        # An ending such as `weight` alone says nothing of where a tensor belongs.
        ends = (".".join(parts[at:]) for at in range(max(1, len(parts) - 1)))
        end = next((end for end in ends if any(f".{one}".endswith(f".{end}") for one in left)), None)
        if end is None:  # one tensor of all experts, which it takes one by one
            bare = name.replace(".{}", "")
            others = [one for one in left if one.replace(".{}", "").startswith(bare)]
            if others:
                taken.update(others)
                found.append([name, others[0]])
            continue
        fit = [one for one in left if f".{one}".endswith(f".{end}")]
        wanted = max(fit, key=lambda one: (_common(one, name), -len(one)))
        taken.update(fit if len(fit) == 1 else [wanted])
        pair = _shortest(name, wanted, end, kept)
        if pair not in found:
            found.append(pair)
    return found, [name for name in left if name not in taken]


def _common(one: str, other: str) -> int:
    """How many characters two names begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _shortest(name: str, wanted: str, end: str, kept: list[str]) -> list[str]:
    """The shortest prefixes of two names that end alike by which no name is unread that is read."""
    parts = end.split(".")
    before = [name.removesuffix(end), wanted.removesuffix(end)]
    for at in range(len(parts)):
        more = "".join(f"{part}." for part in parts[:at])
        pair = [before[0] + more, before[1] + more]
        if not reads(name, pair) and all(reads(one, pair) for one in kept):
            return pair
    return [name, wanted]
