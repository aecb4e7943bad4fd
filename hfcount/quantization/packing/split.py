"""Splits folded names where a rule treats layers or experts differently, without enumerating them."""

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
    return [(part, answer) for part, answer in _split(segments, "", decide, numbers)]


def _split(
    segments: Segments, before: str, decide: Callable[[str], Answer], numbers: Callable[[str], Collection[int]]
) -> tuple[tuple[Segments, Answer], ...]:
    """The parts of the rest of a name, whose beginning is `before`."""
    place = next((place for place, segment in enumerate(segments) if isinstance(segment, Indices)), len(segments))
    texts = [str(segment) for segment in segments[:place]]
    start = ".".join([before, *texts] if before else texts)
    if place == len(segments):
        return ((segments, decide(start)),)
    indices = segments[place]
    assert isinstance(indices, Indices)
    word = texts[-1] if texts else ""
    rest, before_segments = segments[place + 1 :], segments[:place]
    known = _within(indices, numbers(word))
    usual = next((number for number in indices if number not in known), None)
    results: dict[tuple[tuple[Segments, Answer], ...], list[int]] = {}
    for number in sorted(known):
        results.setdefault(_split(rest, f"{start}.{number}", decide, numbers), []).append(number)
    parts: list[tuple[Indices, tuple[tuple[Segments, Answer], ...]]] = []
    if usual is not None:
        common = _split(rest, f"{start}.{usual}", decide, numbers)
        results.pop(common, None)
        others = [number for some in results.values() for number in some]
        parts.append((indices.difference(Indices.of(others)) if others else indices, common))
    parts += [(Indices.of(some) if len(some) < indices.count else indices, result) for result, some in results.items()]
    return tuple(((*before_segments, some, *inner), answer) for some, result in parts for inner, answer in result)


def _within(indices: Indices, numbers: Collection[int]) -> set[int]:
    """The numbers that are in both."""
    if len(numbers) > indices.count:
        return {number for number in indices if number in numbers}
    return {number for number in numbers if number in indices}


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
        ((first if len(by_answers) == 1 else Indices.of(numbers), *inner), answer)
        for rest_answers, numbers in by_answers.items()
        for inner, answer in regroup(rest, rest_answers)
    ]
