"""Cause: projections that are stored fused where the architecture splits them, or the reverse."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.stored_rows import Text, text_of

Shape = tuple[int, ...]


class Regrouping(NamedTuple):
    """Tensors of one module that are another's in another grouping.

    Args:
        place: the module, folded.
        described: names within it that the architecture has.
        stored: names within it that are stored.
        counts: the number of tensors that are missing, and of those in their place.
    """

    place: str
    described: list[str]
    stored: list[str]
    counts: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.place} has {listed(self.stored)} instead of {listed(self.described)}"


def groups(case: Case) -> list[Regrouping]:
    """All such tensors, where the stored shapes prove that they are the same numbers."""
    missing: dict[tuple[Text, str, str], list[tuple[str, Shape, int, str]]] = {}
    for leaf, count in case.difference.missing:
        if count == leaf.count:
            key, name = _placed(text_of(leaf))
            missing.setdefault(key, []).append((name, tuple(map(int, leaf.shape)), count, leaf.name))
    beyond: dict[tuple[Text, str, str], list[tuple[str, Shape, int]]] = {}
    for row, known in case.difference.unexpected:
        key, name = _placed(row.text)
        if row.shape is not None and not known:
            beyond.setdefault(key, []).append((name, row.shape, row.count))
    result = []
    for key, wanted in missing.items():
        others = beyond.get(key, [])
        alone = {count for _, _, count, _ in wanted}, {count for *_, count in others}
        if (
            alone[0] != alone[1]
            or len(alone[0]) != 1
            or 1 not in (len(wanted), len(others))
            or len(wanted) == len(others)
        ):
            continue
        if _joined([shape for _, shape, *_ in wanted]) & _joined([shape for _, shape, _ in others]):
            place = wanted[0][3].removesuffix(f".{wanted[0][0]}.{key[2]}")
            counts = sum(tensor[2] for tensor in wanted), sum(tensor[2] for tensor in others)
            result.append(Regrouping(place, [name for name, *_ in wanted], [name for name, *_ in others], counts))
    return result


def regrouped(case: Case) -> Iterator[Cause]:
    """Nothing differs but how projections are grouped."""
    result = groups(case)
    missing, beyond, misshapen = case.difference.counts
    if result and not misshapen:
        counts = [sum(group.counts[place] for group in result) for place in (0, 1)]
        if counts == [missing, beyond]:
            yield Cause(case.open, sentence(f"{'; '.join(map(str, result))}: the layout of another architecture"))


def _placed(text: Text) -> tuple[tuple[Text, str, str], str]:
    """The module that a projection is in, with the last part of the name; and the name of the projection."""
    path, _, end = text[-1].rpartition(".")
    module, _, name = path.rpartition(".")
    return (text[:-1], module, end), name


def _joined(shapes: Sequence[Shape]) -> set[Shape]:
    """The shapes of these tensors joined along one of their dimensions."""
    first, joined = shapes[0], set[Shape]()
    for place in range(len(first)):
        rest = {(*shape[:place], *shape[place + 1 :]) for shape in shapes}
        if len({len(shape) for shape in shapes}) == len(rest) == 1:
            joined.add((*first[:place], sum(shape[place] for shape in shapes), *first[place + 1 :]))
    return joined
