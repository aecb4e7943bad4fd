"""Causes: shapes that contradict each other, such as transposed tensors, pruned layers or a resized head."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import plural, printable
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.hints import Sight, sights
from hfcount.verifier.causes.stored_rows import Difference, Row, Text, text_of
from hfcount.verifier.folded_names import written

Values: TypeAlias = Mapping[int, Sequence[Sight]]
"""Where each value of a key is seen."""

_MOST = 6  # values that are listed with their layers
_NAMED = 2  # tensors that are named for each value


def transposed(case: Case) -> Iterator[Cause]:
    """All shapes that differ are the other way round."""
    odd = case.difference.misshapen
    if odd and all(len(leaf.shape) == 2 and row.shape == leaf.shape[::-1] for leaf, row in odd):
        text = (
            "they are stored transposed, as between torch's Linear [out, in] and Conv1D [in, out]; square ones may"
            " be, too"
        )
        yield Cause({"HF301"}, sentence(text), "Transpose them.")


def halved(case: Case) -> Iterator[Cause]:
    """All shapes that differ are columns of half as many bytes, which nothing says how to read."""
    odd, view = case.difference.misshapen, case.comparison.view
    if not odd or view is None or case.comparison.packed:
        return
    spell = case.comparison.spelling
    firsts = (written(row.text, [Indices.of([next(iter(indices))]) for indices in row.numbers]) for _, row in odd)
    entries = [view.entries.get(spell.get(name, name)) for name in firsts]
    if all(entry and entry.dtype == "U8" for entry in entries) and all(
        row.shape == ((leaf.size + 1) // 2, 1) for leaf, row in odd
    ):
        text = (
            "they are 4-bit weights of bitsandbytes, two in a byte, but absmax and quant_state are missing,"
            " without which"
        )
        advice = "Merge or convert again with the model loaded in 16 bits."
        yield Cause({"HF301", "HF303"}, sentence(f"{text} they cannot be read"), advice)


def contradicting(case: Case) -> Iterator[Cause]:
    """No one value of a key fits all that is stored, or no one shape all layers."""
    difference = case.difference
    observed = sights(case.blueprint, difference, case.stored)
    apart = {key: values for key, values in observed.keys.items() if len(values) > 1}
    everywhere = [sight for values in apart.values() for sight in chain(*values.values())]
    parts = [_contradiction(case, key, values, observed.read[key][0]) for key, values in apart.items()]
    further = _further(difference, {id(sight.leaf) for sight in everywhere if not sight.stack})
    if further is None:
        return
    parts += [(text, None) for text in further]
    codes = _codes(difference, {sight.stack for sight in everywhere if sight.stack})
    if parts and codes:
        fix = parts[0][1] if len(parts) == 1 else None
        yield Cause(codes, sentence("; ".join(text for text, _ in parts)), fix, key=next(iter(apart), None))


def _further(difference: Difference, covered: Collection[int]) -> list[str] | None:
    """Which other leaves differ from layer to layer; None if one is alike in all, so that it is not the layers."""
    odd = {id(leaf) for leaf, _ in difference.misshapen}.difference(covered)
    leaves = [(leaf, rows) for leaf, rows in difference.pairs if id(leaf) in odd]
    if any(len({row.shape for row in rows}) == 1 or len(leaf.indices) != 1 for leaf, rows in leaves):
        return None
    return [_leaf(leaf, rows) for leaf, rows in leaves]


def _contradiction(case: Case, key: str, values: Values, read: int) -> tuple[str, str | None]:
    """The contradiction between values of a key, and the fix, if one is known."""
    return _router(key, values, read) or _layers(case, key, values) or _tensors(key, values, read)


def _codes(difference: Difference, stacks: Collection[Text]) -> set[str]:
    """The findings that are explained: of shapes, and of names if all of them are within these stacks of layers."""
    texts = [text_of(leaf) for leaf, _ in difference.missing], [row.text for row, _ in difference.unexpected]
    codes = {"HF301"} if difference.misshapen else set()
    for code, differing in zip(("HF201", "HF202"), texts, strict=True):
        if differing and all(any(text[: len(stack)] == stack for stack in stacks) for text in differing):
            codes.add(code)
    return codes


def _router(key: str, values: Values, read: int) -> tuple[str, str | None] | None:
    """The router has rows for other experts than are stored."""
    experts = {value for value, places in values.items() if any(sight.leaf.component == "experts" for sight in places)}
    rows = {value for value, places in values.items() if any(sight.leaf.component == "router" for sight in places)}
    if len(values) > 2 or len(experts) != 1 or len(rows) != 1 or experts == rows:
        return None
    (stored,), (rowed,) = experts, rows
    name = next(sight.name for sight in values[rowed] if sight.leaf.component == "router")
    text = f"the router {printable(name)} has {plural(rowed, 'row')}, but {plural(stored, 'expert')} are stored"
    if rowed < stored:
        return text, None
    fix = f"ut its rows down to the {stored:,} stored experts"
    return (text, f"C{fix}." if read == stored else f"Add the missing experts, or c{fix} and set {key} to {stored}.")


def _layers(case: Case, key: str, values: Values) -> tuple[str, str | None] | None:
    """Each layer has one value, and another than other layers."""
    by_layer: dict[int, set[int]] = {}
    for value, places in values.items():
        for sight in places:
            if sight.within is None:
                return None
            for number in sight.within:
                by_layer.setdefault(number, set()).add(value)
    if any(len(layer_values) > 1 for layer_values in by_layer.values()):
        return None
    text = f"the layers differ from one another: {key} is {_by_layer({n: f'{v:,}' for n, (v,) in by_layer.items()})}"
    each = [value for _, (value,) in sorted(by_layer.items())]
    if case.proven({key: each}):
        return text, f"Set {key} to {each}."
    return f"{text}. This architecture has one {key} for all layers, so no config fits", None


def _tensors(key: str, values: Values, read: int) -> tuple[str, str | None]:
    """Tensors differ from one another."""
    few = sorted(values, key=lambda value: len(values[value]))
    if {sight.leaf.component for sight in chain(*values.values())} == {"embedding", "lm_head"}:
        rows = listed([f"{values[value][0].name} has {plural(value, 'row')}" for value in few])
        text = f"{key} is {read:,}, but {rows}: one was resized or cut without the other"
        return text, f"Resize both to the same number of rows, and set {key} to it."
    places = listed([f"{value:,} in {_names(values[value])}" for value in few])
    return f"{key} is {read:,}, but the stored tensors do not agree on it: {places}", None


def _leaf(leaf: Leaf, rows: Sequence[Row]) -> str:
    shapes = {number: "×".join(map(str, row.shape or ())) for row in rows for number in row.numbers[0]}
    return f"the layers differ from one another: {leaf.name} is {_by_layer(shapes)}"


def _by_layer(values: Mapping[int, str]) -> str:
    """`150 in layer 0 and 160 in layers 1-3`."""
    layers: dict[str, list[int]] = {}
    for number in sorted(values):
        layers.setdefault(values[number], []).append(number)
    few = list(layers.items())[:_MOST]
    texts = [f"{value} in layer{'s' if len(numbers) > 1 else ''} {Indices.of(numbers)}" for value, numbers in few]
    return listed(texts + ([f"{len(layers) - _MOST:,} more values elsewhere"] if len(layers) > _MOST else []))


def _names(places: Sequence[Sight]) -> str:
    names = list(dict.fromkeys(sight.name for sight in places))
    more = [plural(len(names) - _NAMED, "more row")] if len(names) > _NAMED else []
    return listed([printable(name) for name in names[:_NAMED]] + more)
