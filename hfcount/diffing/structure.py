"""Explains missing and reshaped tensors: parts, towers, layers, experts, vocabulary rows, heads."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from hfcount.diffing.comparison import Comparison, Unexplained
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.matching import Matches, stacks
from hfcount.diffing.pieces import Kind
from hfcount.diffing.tensors import Logical, keyed
from hfcount.text import plural, printable
from hfcount.verifier.folded_names import fold

_TOWERS = {"vision": "vision tower", "audio": "audio tower"}
_PARTS = (*_TOWERS, "projector")
_FEW = 3  # names in a line
_LAYERS = ("attention", "mlp")
"""Components of layers, which heads lack."""
_MOST = 1_000  # most tensors of a head


def explained(c: Comparison, matched: Matches) -> Unexplained:
    """Explains differences step by step, and returns the rest with the relations."""
    left = Unexplained(dict(matched.only_a), dict(matched.only_b), dict(matched.shapes))
    _unread(c, left)
    _part(matched, left)
    _prediction(left)
    _towers(c, left)
    _stacks(matched, left)
    _vocabulary(c, left)
    _head(c, left)
    _of_class(c, left)
    return left


def _unread(c: Comparison, left: Unexplained) -> None:
    """Tensors missing along with their files, which nothing else explains."""
    if "B" in c.unread and left.only_a:
        many = plural(len(left.only_a), "tensor")
        left.say("tensors", f"lacks {many} of A, but some of its files are missing or cannot be read")
        left.only_a.clear()
    if "A" in c.unread and left.only_b:
        many = plural(len(left.only_b), "tensor")
        left.say("tensors", f"has {many} that A lacks, but some of A's files are missing or cannot be read")
        left.only_b.clear()


def _part(matched: Matches, left: Unexplained) -> None:
    """One side is a part of the other, which explains the tensors outside of that part."""
    if not matched.root:
        return
    name = printable(matched.root.removeprefix("-").rstrip("."))
    if not (left.only_a or left.only_b):
        verb = "adds" if matched.root.startswith("-") else "leaves out"
        left.say("spelling", f"{verb} {name} before the names of all {plural(len(matched.both), 'tensor')}")
        return
    if matched.root.startswith("-"):
        left.say("part", f"holds A as its part {name}, with {plural(len(left.only_b), 'further tensor')}")
        left.only_b.clear()
    else:
        left.say("part", f"is A's part {name}, without {plural(len(left.only_a), 'other tensor')}")
        left.only_a.clear()


def _prediction(left: Unexplained) -> None:
    for side, verb in ((left.only_a, "lacks A's"), (left.only_b, "adds")):
        keys = [key for key, tensor in side.items() if tensor.leaf and tensor.leaf.part == "prediction"]
        for key in keys:
            del side[key]
        if keys:
            left.say("prediction", f"{verb} multi-token-prediction layers ({plural(len(keys), 'tensor')})")


def _towers(c: Comparison, left: Unexplained) -> None:
    for side, place, verb in ((left.only_a, 0, "lacks A's"), (left.only_b, 1, "adds a")):
        inventory = c.inventories[place]
        counts = Counter(tensor.component for tensor in side.values())
        there = Counter(tensor.component for tensor in inventory.tensors.values()) if inventory else Counter()
        gone = [name for name in _PARTS if counts[name] and counts[name] == there[name]]
        if not any(name in _TOWERS for name in gone):
            continue
        for key in [key for key, tensor in side.items() if tensor.component in gone]:
            del side[key]
        towers = " and ".join(_TOWERS[name] for name in gone if name in _TOWERS)
        left.say("towers", f"{verb} {towers} ({plural(sum(counts[name] for name in gone), 'tensor')})")


def _stacks(matched: Matches, left: Unexplained) -> None:
    """Different numbers of layers or experts."""
    by_counts: dict[tuple[Literal["layers", "experts"], int, int], list[str]] = {}
    for stack in stacks(matched):
        side, other = (left.only_a, left.only_b) if stack.a > stack.b else (left.only_b, left.only_a)
        keys = [key for key in side if _is_in(key, stack.name)]
        if not keys or any(_is_in(key, stack.name) for key in other):
            continue
        for key in keys:
            del side[key]
        by_counts.setdefault((stack.what, stack.a, stack.b), []).append(stack.name)
    for (what, a, b), names in by_counts.items():
        where = f"{', '.join(names[:_FEW])}{' ...' if len(names) > _FEW else ''}"
        text = f"has {b:,} of A's {a:,} {what}" if a > b else f"has {b:,} {what}, A has {a:,}"
        left.say(what, f"{text} ({where})")
    _stacked_experts(left)


def _is_in(key: str, name: str) -> bool:
    """Whether a key is in a module list; `*` in `name` matches numbers."""
    segments, wanted = key.split("."), name.split(".")
    return (
        len(segments) > len(wanted)
        and all(
            segment == other or (other == "*" and segment.isdecimal())
            for segment, other in zip(segments, wanted, strict=False)
        )
        and segments[len(wanted)].isdecimal()
    )


def _stacked_experts(left: Unexplained) -> None:
    """Different numbers of stacked experts, with as many rows in the router."""
    moe = {key: pair for key, pair in left.shapes.items() if pair[0].component in ("experts", "router")}
    shapes = {key: (pair[0].shape, pair[1].shape) for key, pair in moe.items()}
    keys = [key for key, (a, b) in shapes.items() if a[1:] == b[1:]]
    counts = {(shapes[key][0][0], shapes[key][1][0]) for key in keys}
    experts = any(pair[0].component == "experts" for pair in moe.values())
    if len(counts) != 1:
        return
    for key in keys:
        del left.shapes[key]
    a, b = counts.pop()
    if experts or not any(relation.kind == "experts" for relation in left.relations):
        left.say("experts", f"has {b:,} of A's {a:,} experts" if b < a else f"has {b:,} experts, A has {a:,}")


def _vocabulary(c: Comparison, left: Unexplained) -> None:
    """Different numbers of vocabulary rows, in embedding and head."""
    rows = Counter(
        (tensor.shape[place], other.shape[place])
        for tensor, other in left.shapes.values()
        if tensor.component in ("embedding", "lm_head")
        and (place := _one_differs(tensor.shape, other.shape)) is not None
    )
    vocabulary = tuple(_vocab(side) for side in (c.a, c.b))
    for a, b in rows:
        keys = [key for key, (tensor, other) in left.shapes.items() if _resized(tensor.shape, other.shape) == (a, b)]
        if vocabulary != (a, b) and (None not in vocabulary or not any("embed" in key or "wte" in key for key in keys)):
            continue
        for key in keys:
            del left.shapes[key]
        more = plural(abs(b - a), "more row" if b > a else "fewer row")
        left.say("vocabulary", f"has a vocabulary with {more} ({b:,} instead of {a:,})")


def _vocab(side: LoadedSide) -> int | None:
    size = side.values.get("vocab_size")
    text = side.values.get("text_config")
    size = text.get("vocab_size", size) if isinstance(text, dict) else size
    return size if isinstance(size, int) else None


def _one_differs(shape: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """The only dimension in which two shapes differ; None where they differ in more."""
    places = [place for place, pair in enumerate(zip(shape, other, strict=False)) if pair[0] != pair[1]]
    return places[0] if len(shape) == len(other) and len(places) == 1 else None


def _resized(shape: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int] | None:
    place = _one_differs(shape, other)
    return None if place is None else (shape[place], other[place])


def _head(c: Comparison, left: Unexplained) -> None:
    head_names = _heads(c.a), _heads(c.b)
    resized = [key for key, pair in left.shapes.items() if all(map(_is_head, pair, head_names))]
    if resized:
        tensors = [left.shapes.pop(key)[0] for key in resized]
        left.say("head", f"has a head of another size: {_listed(tensors)}")
    sides = zip((left.only_a, left.only_b), head_names, strict=True)
    heads = tuple({key: tensor for key, tensor in side.items() if _is_head(tensor, names)} for side, names in sides)
    if not any(heads):
        return
    left.only_a = {key: tensor for key, tensor in left.only_a.items() if key not in heads[0]}
    left.only_b = {key: tensor for key, tensor in left.only_b.items() if key not in heads[1]}
    _other_head(c, left, heads)


def _of_class(c: Comparison, left: Unexplained) -> None:
    """Tensors that only one side's class adds to the base model, such as a pooler."""
    for side, other, text in ((left.only_a, c.b, "lacks A's"), (left.only_b, c.a, "adds")):
        if other.blueprint is None or other.blueprint.derived_with:
            continue
        key = keyed(other.blueprint)
        names = {key(name) for leaf in other.blueprint.other_heads if leaf.count < _MOST for name in leaf.names()}
        tensors = [side.pop(key) for key in [*side] if key in names]
        if tensors:
            name = printable(other.blueprint.spec.architecture)
            kind: Kind = "part" if any(tensor.component in _LAYERS for tensor in tensors) else "head"
            left.say(kind, f"{text} {_listed(tensors)}: {name} has none")


def _other_head(c: Comparison, left: Unexplained, heads: Sequence[Mapping[str, Logical]]) -> None:
    """Explains heads that only one side has."""
    names = [_listed(side.values()) for side in heads]
    if heads[0] and not heads[1] and _ties(c.b, heads[0]):
        left.say("tie", f"ties its head to the embedding, while A stores {names[0]}")
    elif heads[1] and not heads[0] and _ties(c.a, heads[1]):
        left.say("tie", f"stores its own head ({names[1]}), while A ties it to the embedding")
    elif all(heads):
        left.say("head", f"has another head: {names[1]} instead of {names[0]}")
    else:
        left.say(
            "head",
            f"has no head, while A has {names[0]}" if heads[0] else f"has a head that A does not have: {names[1]}",
        )


def _is_head(tensor: Logical, heads: frozenset[str]) -> bool:
    return tensor.component == "lm_head" or tensor.name in heads


def _heads(side: LoadedSide) -> frozenset[str]:
    """Names of the tensors that a class adds around the base model."""
    if side.blueprint is None or side.blueprint.derived_with:
        return frozenset()
    return frozenset(name for leaf in side.blueprint.head if leaf.count < _MOST for name in leaf.names())


def _ties(side: LoadedSide, heads: Mapping[str, Logical]) -> bool:
    """Whether a side ties what the other stores."""
    if side.blueprint is None:
        return False
    tied = {leaf.name for leaf in side.blueprint.leaves if leaf.tied_to}
    return any(tensor.name in tied for tensor in heads.values())


def _listed(tensors: Iterable[Logical]) -> str:
    names = fold([tensor.name for tensor in tensors])
    shown = ", ".join(printable(name) for name in names[:_FEW])
    return f"{shown} and {len(names) - _FEW} more rows" if len(names) > _FEW else shown
