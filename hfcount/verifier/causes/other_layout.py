"""Cause: the same numbers joined, split or stacked in another way, or packed under other names."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from hfcount.spec.tree.indices import Indices
from hfcount.text import printable
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.stored_rows import MOST, Text, text_of
from hfcount.verifier.folded_names import written

Place = tuple[str, int | None]
"""A stack of layers and one of its numbers; no stack and no number for what is in none."""

_NAMED = 3  # rows on either side
_CODES = {"HF201", "HF202", "HF209"}


def relaid(case: Case) -> Iterator[Cause]:
    """In every layer as many elements are missing as nobody described, in tensors of other shapes."""
    missing, beyond, misshapen = case.difference.counts
    if not missing or not beyond or misshapen or max(missing, beyond) > MOST:
        return
    lacking, stored = _lacking(case), _beyond(case)
    if lacking is None or stored is None or lacking.keys() != stored.keys():
        return
    ratios = {lacking[place] / stored[place] for place in lacking}
    # A word of a packed tensor holds a power of two of elements, and one of a dense tensor is one.
    if len(ratios) != 1 or (ratio := ratios.pop()) not in (
        [2**power for power in range(6)] if case.comparison.packed else [1]
    ):
        return
    described = [leaf.name for leaf, _ in case.difference.missing]
    names = [row.name for row, _ in case.difference.unexpected]
    packed = f" ({ratio:.0f} packed in each stored one)" if ratio > 1 else ""
    text = (
        f"in each layer {_some(names)} have as many elements{packed} as the missing {_some(described)}: most likely"
        " they are the same weights, joined, split, stacked or renamed"
    )
    advice = f"if they are the same, convert them to the names and shapes of {printable(case.comparison.subject)}"
    yield Cause(_CODES, sentence(text), sentence(advice))


def packed_apart(case: Case) -> Iterator[Cause]:
    """All that nobody described has the name of a missing tensor with an ending, as packers give it."""
    missing, beyond, misshapen = case.difference.counts
    if not missing or not beyond or misshapen:
        return
    modules = {leaf.name.removesuffix(".weight"): leaf.name for leaf, _ in case.difference.missing}
    endings = dict[str, list[str]]()
    for row, _ in case.difference.unexpected:
        module = next((module for module in modules if row.name.startswith((f"{module}_", f"{module}."))), None)
        if module is None:
            return
        endings.setdefault(module, []).append(row.name.removeprefix(module))
    if endings.keys() == modules.keys():
        first, ends = next(iter(endings.items()))
        text = (
            f"each missing tensor is stored under its name with a suffix, such as {_some(ends)} for"
            f" {printable(modules[first])}: most likely these are the weights, quantised, but config.json does not"
            " say how"
        )
        advice = "write quantization_config into config.json, or save the weights again without quantisation"
        yield Cause(_CODES, sentence(text), sentence(advice))


def _lacking(case: Case) -> Mapping[Place, int] | None:
    """Elements that are missing in each place; None if only some tensors of a row are."""
    result: Counter[Place] = Counter()
    for leaf, count in case.difference.missing:
        if count != leaf.count:
            return None
        for place, many in _places(text_of(leaf), leaf.indices):
            result[place] += many * leaf.size
    return result


def _beyond(case: Case) -> Mapping[Place, int] | None:
    """Elements, or words of packed tensors, in each place that nobody described; None if they are not known."""
    c, result = case.comparison, Counter[Place]()
    for row, known in case.difference.unexpected:
        if known or c.view is None:
            return None
        for place, many in _places(row.text, row.numbers):
            size = _size(case, written(row.text, [Indices.of([next(iter(numbers))]) for numbers in row.numbers]))
            if size is None:
                return None
            result[place] += many * size
    return result


def _size(case: Case, name: str) -> int | None:
    """Elements of a stored tensor, by the name that it has as if it were dense."""
    c = case.comparison
    stored = c.spelling.get(name, name)
    if c.packed:
        stored = c.packed.dense.get(stored, stored)
    entry = c.view.entries.get(stored) if c.view else None
    return prod(entry.shape) if entry else None


def _places(text: Text, numbers: Sequence[Indices]) -> Iterator[tuple[Place, int]]:
    """Each place that tensors of a row are in, with how many of them."""
    if not numbers:
        yield ("", None), 1
        return
    outer, *inner = numbers
    for number in outer:
        yield (text[0], number), prod(int(indices.count) for indices in inner)


def _some(names: list[str]) -> str:
    few = [printable(name) for name in names[:_NAMED]]
    return listed(few + ([f"{len(names) - _NAMED:,} more rows"] if len(names) > _NAMED else []))
