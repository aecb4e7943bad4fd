"""Splits a folded leaf where a rule treats some of its layers or experts otherwise; nothing is enumerated."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TypeVar

from hfcount.spec.tree.indices import Indices

Segments = tuple[str | Indices, ...]
Answer = TypeVar("Answer", bound=Hashable)


def split(
    segments: Segments, decide: Callable[[str], Answer], numbers: Callable[[str], Collection[int]]
) -> list[tuple[Segments, Answer]]:
    """The parts of a folded name that a rule answers alike.

    Args:
        segments: the name, with an Indices for the numbers in it.
        decide: the rule; all names must be answered alike that differ in none of the `numbers`.
        numbers: the numbers after a segment that the rule tells apart.
    """
    return [(found, answer) for found, answer in _split(segments, "", decide, numbers)]


def _split(
    segments: Segments, before: str, decide: Callable[[str], Answer], numbers: Callable[[str], Collection[int]]
) -> tuple[tuple[Segments, Answer], ...]:
    """The parts of the rest of a name, whose beginning is `before`."""
    place = next((place for place, one in enumerate(segments) if isinstance(one, Indices)), len(segments))
    texts = [str(one) for one in segments[:place]]
    start = ".".join([before, *texts] if before else texts)
    if place == len(segments):
        return ((segments, decide(start)),)
    one = segments[place]
    assert isinstance(one, Indices)
    word = texts[-1] if texts else ""
    rest, own = segments[place + 1 :], segments[:place]
    known = _within(one, numbers(word))
    usual = next((number for number in one if number not in known), None)
    results: dict[tuple[tuple[Segments, Answer], ...], list[int]] = {}
    for number in sorted(known):
        results.setdefault(_split(rest, f"{start}.{number}", decide, numbers), []).append(number)
    found: list[tuple[Indices, tuple[tuple[Segments, Answer], ...]]] = []
    if usual is not None:
        common = _split(rest, f"{start}.{usual}", decide, numbers)
        results.pop(common, None)
        others = [number for some in results.values() for number in some]
        found.append((one.difference(Indices.of(others)) if others else one, common))
    found += [(Indices.of(some) if len(some) < one.count else one, result) for result, some in results.items()]
    return tuple(((*own, some, *inner), answer) for some, result in found for inner, answer in result)


def _within(own: Indices, some: Collection[int]) -> set[int]:
    """The numbers that are in both."""
    if len(some) > own.count:
        return {number for number in own if number in some}
    return {number for number in some if number in own}


def regroup(places: Sequence[Indices], answers: Sequence[Answer]) -> list[tuple[tuple[Indices, ...], Answer]]:
    """The inverse of asking for every name: sets of numbers that were answered alike.

    Args:
        places: the sets of numbers in a name.
        answers: one for each combination of them, the last number changing fastest.
    """
    if not places:
        return [((), answers[0])]
    first, *rest = places
    step = len(answers) // int(first.count)
    by_answers: dict[tuple[Answer, ...], list[int]] = {}
    for place, number in enumerate(first):
        by_answers.setdefault(tuple(answers[place * step : (place + 1) * step]), []).append(number)
    return [
        ((first if len(by_answers) == 1 else Indices.of(some), *inner), answer)
        for own, some in by_answers.items()
        for inner, answer in regroup(rest, own)
    ]
