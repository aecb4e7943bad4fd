"""What B is to A: each thing that explains some of the differences, and what is left."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hfcount.diffing.configs import otherwise, sized_otherwise
from hfcount.diffing.contents import is_same_structure, of_files, of_values
from hfcount.diffing.listing import relation as files_relation
from hfcount.diffing.listing import settled
from hfcount.diffing.matching import Matched, stacks
from hfcount.diffing.model import ConfigKey, FileSums, Kind, Relation, Values
from hfcount.diffing.sides import Looked
from hfcount.diffing.tensors import Inventory, Logical
from hfcount.diffing.values import Gaps
from hfcount.storage.dtypes import FLOATING, INTEGERS
from hfcount.text import plural, printable
from hfcount.verifier.folding import fold

_TOWERS = {"vision": "vision tower", "audio": "audio tower"}
_PARTS = (*_TOWERS, "projector")
_CONTAINERS = {"pickle": "pickled files", "gguf": "GGUF", "adapter": "an adapter"}
_FEW = 3  # names in a line
_MOST = 1_000  # tensors of a head


@dataclass
class Compared:
    """Everything that was compared."""

    a: Looked
    b: Looked
    matched: Matched | None
    inventories: tuple[Inventory | None, Inventory | None]
    config: Sequence[ConfigKey] = ()
    files: FileSums | None = None
    values: Values | None = None
    gaps: Gaps | None = None

    @property
    def packing(self) -> tuple[str, str]:
        """How weights of A and B are packed; empty where they are not."""
        a, b = (", ".join(one.layouts) if one else "" for one in self.inventories)
        return a, b


@dataclass
class _Left:
    """Differences that nothing has explained so far, by key."""

    only_a: dict[str, Logical]
    only_b: dict[str, Logical]
    shapes: dict[str, tuple[Logical, Logical]]
    relations: list[Relation] = field(default_factory=list)

    def say(self, kind: Kind, text: str) -> None:
        """Adds what B is to A."""
        self.relations.append(Relation(kind=kind, text=text))

    @property
    def count(self) -> int:
        """How many tensors are left."""
        return len(self.only_a) + len(self.only_b) + len(self.shapes)


def relations(c: Compared) -> list[Relation]:
    """What B is to A, the most important first."""
    found: list[Relation] = []
    if c.matched is not None:
        found += _of_structure(c, c.matched)
    contents = list(_of_contents(c, found))
    found = [*contents, *found] if is_same_structure(found) else [*found, *contents]
    if not any(one.kind == "another-model" for one in found):
        found += otherwise(c.config, is_same_structure(found) and sized_otherwise(c.a.blueprint, c.b.blueprint))
    return found


def _of_structure(c: Compared, matched: Matched) -> list[Relation]:
    left = _Left(dict(matched.only_a), dict(matched.only_b), dict(matched.shapes))
    _part(matched, left)
    _prediction(left)
    _towers(c, left)
    _stacks(matched, left)
    _vocabulary(c, left)
    _head(c, left)
    if _is_another(c, matched, left):
        return [Relation(kind="another-model", text=_another(c))]
    if left.count:
        left.say("tensors", _rest(left))
    types = list(_dtypes(c, matched))
    return [*types, *left.relations, *_spelling(c, matched), *_containers(c)]


def _containers(c: Compared) -> Iterator[Relation]:
    """Files of another form."""
    kinds = [one.inspection.evidence.container if one.inspection else None for one in (c.a, c.b)]
    if kinds[0] != kinds[1]:
        names = [_CONTAINERS.get(kind or "", kind or "safetensors") for kind in kinds]
        yield Relation(kind="container", text=f"is stored as {names[1]}, and A as {names[0]}")


def _of_contents(c: Compared, structure: Sequence[Relation]) -> Iterator[Relation]:
    """What is known of contents, and else that the structure is the same."""
    if c.matched is None:
        return
    values = c.values
    read = values is not None and not values.sampled and values.identical < values.tensors
    if c.files is not None and settled(c.files) and is_same_structure(structure) and not read:
        yield files_relation(c.files)
    elif values is not None:
        yield from of_values(values, structure)
    elif is_same_structure(structure):
        known = list(of_files(c.files, c.a, c.b))
        yield from known or [Relation(kind="same-structure", text="has A's structure")]


def _part(matched: Matched, left: _Left) -> None:
    """One side is a part of the other: what lies beside that part is explained by it."""
    if not matched.root:
        return
    name = printable(matched.root.removeprefix("-").rstrip("."))
    if matched.root.startswith("-"):
        left.say("part", f"holds A as its part {name}, with {plural(len(left.only_b), 'further tensor')}")
        left.only_b.clear()
    else:
        left.say("part", f"is A's part {name}, without {plural(len(left.only_a), 'other tensor')}")
        left.only_a.clear()


def _prediction(left: _Left) -> None:
    for side, verb in ((left.only_a, "lacks A's"), (left.only_b, "adds")):
        own = [key for key, one in side.items() if one.leaf and one.leaf.part == "prediction"]
        for key in own:
            del side[key]
        if own:
            left.say("prediction", f"{verb} layers that predict further tokens ({plural(len(own), 'tensor')})")


def _towers(c: Compared, left: _Left) -> None:
    for side, place, verb in ((left.only_a, 0, "lacks A's"), (left.only_b, 1, "adds a")):
        whole = c.inventories[place]
        own = Counter(one.component for one in side.values())
        there = Counter(one.component for one in whole.tensors.values()) if whole else Counter()
        gone = [name for name in _PARTS if own[name] and own[name] == there[name]]
        if not any(name in _TOWERS for name in gone):
            continue
        for key in [key for key, one in side.items() if one.component in gone]:
            del side[key]
        towers = " and ".join(_TOWERS[name] for name in gone if name in _TOWERS)
        left.say("towers", f"{verb} {towers} ({plural(sum(own[name] for name in gone), 'tensor')})")


def _stacks(matched: Matched, left: _Left) -> None:
    """Layers and experts of which one side has more."""
    found: dict[tuple[Literal["layers", "experts"], int, int], list[str]] = {}
    for stack in stacks(matched):
        side, other = (left.only_a, left.only_b) if stack.a > stack.b else (left.only_b, left.only_a)
        own = [key for key in side if _is_in(key, stack.name)]
        if not own or any(_is_in(key, stack.name) for key in other):
            continue
        for key in own:
            del side[key]
        found.setdefault((stack.what, stack.a, stack.b), []).append(stack.name)
    for (what, a, b), names in found.items():
        where = f"{', '.join(names[:_FEW])}{' ...' if len(names) > _FEW else ''}"
        text = f"has {b:,} of A's {a:,} {what}" if a > b else f"has {b:,} {what}, and A has {a:,}"
        left.say(what, f"{text} ({where})")
    _stacked_experts(left)


def _is_in(key: str, name: str) -> bool:
    """Whether a key lies in a list of modules, `name` with `*` for numbers."""
    segments, wanted = key.split("."), name.split(".")
    return (
        len(segments) > len(wanted)
        and all(
            one == other or (other == "*" and one.isdecimal()) for one, other in zip(segments, wanted, strict=False)
        )
        and segments[len(wanted)].isdecimal()
    )


def _stacked_experts(left: _Left) -> None:
    """Experts in one tensor, of which one side has fewer; their router has as many rows."""
    moe = {key: pair for key, pair in left.shapes.items() if pair[0].component in ("experts", "router")}
    counts = {(one.shape[0], other.shape[0]) for one, other in moe.values() if one.shape[1:] == other.shape[1:]}
    experts = any(pair[0].component == "experts" for pair in moe.values())
    if len(counts) != 1:
        return
    own = [key for key, (one, other) in moe.items() if one.shape[1:] == other.shape[1:]]
    for key in own:
        del left.shapes[key]
    a, b = counts.pop()
    if experts or not any(one.kind == "experts" for one in left.relations):
        left.say("experts", f"has {b:,} of A's {a:,} experts" if b < a else f"has {b:,} experts, and A has {a:,}")


def _vocabulary(c: Compared, left: _Left) -> None:
    """Rows of the embedding, and with them those of the head."""
    rows = Counter(
        (one.shape[place], other.shape[place])
        for one, other in left.shapes.values()
        if one.component in ("embedding", "lm_head") and (place := _one_differs(one.shape, other.shape)) is not None
    )
    vocabulary = tuple(_vocab(side) for side in (c.a, c.b))
    for a, b in rows:
        own = [key for key, (one, other) in left.shapes.items() if _resized(one.shape, other.shape) == (a, b)]
        if vocabulary != (a, b) and not any("embed" in key or "wte" in key for key in own):
            continue
        for key in own:
            del left.shapes[key]
        more = f"{plural(abs(b - a), 'row')} {'more' if b > a else 'fewer'}"
        left.say("vocabulary", f"has a vocabulary with {more} ({a:,}, then {b:,})")


def _vocab(side: Looked) -> int | None:
    size = side.values.get("vocab_size")
    text = side.values.get("text_config")
    size = text.get("vocab_size", size) if isinstance(text, dict) else size
    return size if isinstance(size, int) else None


def _one_differs(one: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """The only dimension in which two shapes differ; None where they differ in more."""
    places = [place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
    return places[0] if len(one) == len(other) and len(places) == 1 else None


def _resized(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int] | None:
    place = _one_differs(one, other)
    return None if place is None else (one[place], other[place])


def _head(c: Compared, left: _Left) -> None:
    own = _heads(c.a), _heads(c.b)
    sides = zip((left.only_a, left.only_b), own, strict=True)
    heads = tuple({key: one for key, one in side.items() if _is_head(one, names)} for side, names in sides)
    if not any(heads):
        return
    for key in heads[0]:
        del left.only_a[key]
    for key in heads[1]:
        del left.only_b[key]
    names = [_listed(side.values()) for side in heads]
    if heads[0] and not heads[1] and _ties(c.b, heads[0]):
        left.say("tie", f"ties its head to the embedding, and A stores {names[0]}")
    elif heads[1] and not heads[0] and _ties(c.a, heads[1]):
        left.say("tie", f"stores a head of its own ({names[1]}), and A ties it to the embedding")
    elif all(heads):
        left.say("head", f"has another head: {names[1]} in place of {names[0]}")
    else:
        left.say("head", f"has no head: A has {names[0]}" if heads[0] else f"has a head, and A has none: {names[1]}")


def _is_head(one: Logical, heads: frozenset[str]) -> bool:
    return one.component == "lm_head" or one.name in heads


def _heads(side: Looked) -> frozenset[str]:
    """The names of what the class of a config has around the base model."""
    if side.blueprint is None or side.blueprint.derived_with:
        return frozenset()
    return frozenset(name for leaf in side.blueprint.head if leaf.count < _MOST for name in leaf.names())


def _ties(side: Looked, heads: Mapping[str, Logical]) -> bool:
    """Whether a side ties what the other stores."""
    if side.blueprint is None:
        return False
    tied = {leaf.name for leaf in side.blueprint.leaves if leaf.tied_to}
    return any(one.name in tied for one in heads.values())


def _listed(tensors: Iterable[Logical]) -> str:
    names = fold([one.name for one in tensors])
    shown = ", ".join(printable(name) for name in names[:_FEW])
    return f"{shown} and {len(names) - _FEW} more rows" if len(names) > _FEW else shown


def _is_another(c: Compared, matched: Matched, left: _Left) -> bool:
    """Whether most tensors differ in ways that nothing explains."""
    agreeing = len(matched.both) - len(matched.shapes)
    sizes = [len(one.tensors) for one in c.inventories if one]
    if matched.root or not left.count or c.a.adapter is not None:
        return False
    return _families(c)[0] != _families(c)[1] or 2 * agreeing < max(sizes, default=0)


def _another(c: Compared) -> str:
    families = _families(c)
    if families[0] != families[1]:
        return f"is another model: {printable(families[1])}, and A is {printable(families[0])}"
    return f"is another model of the same type, {printable(families[0])}, with other sizes"


def _families(c: Compared) -> tuple[str, str]:
    a, b = (one.blueprint.spec.family if one.blueprint else _type(one) for one in (c.a, c.b))
    return a, b


def _type(one: Looked) -> str:
    """What a model is of that no family describes."""
    return str(one.values.get("general.architecture" if one.gguf else "model_type") or "an unknown type")


def _rest(left: _Left) -> str:
    said = [
        f"lacks {plural(len(left.only_a), 'tensor')} of A" if left.only_a else "",
        f"has {plural(len(left.only_b), 'tensor')} that A lacks" if left.only_b else "",
        f"has other shapes in {plural(len(left.shapes), 'tensor')}" if left.shapes else "",
    ]
    return ", ".join(filter(None, said))


def _dtypes(c: Compared, matched: Matched) -> Iterator[Relation]:
    """Casts, and what is packed."""
    pairs = Counter((one.dtype or "", other.dtype or "") for one, other in matched.dtypes.values())
    a, b = c.packing
    packed = {pair: count for pair, count in pairs.items() if not {*pair} <= FLOATING | INTEGERS}
    count = sum(packed.values())
    if a and b and a != b:
        yield Relation(kind="requantised", text=f"is quantised with {b}, and A with {a}")
    elif b and not a:
        yield Relation(
            kind="quantised", text=f"is A quantised: {b}, {plural(count, 'matrix').replace('matrixs', 'matrices')}"
        )
    elif a and not b:
        yield Relation(kind="dequantised", text=f"is A with its {a} weights unpacked")
    elif packed and all(one in FLOATING for one, _ in packed):
        types = ", ".join(dict.fromkeys(other for _, other in packed))
        yield Relation(kind="quantised", text=f"is A quantised: {types}, {plural(count, 'tensor')}")
    elif packed and all(other in FLOATING for _, other in packed):
        yield Relation(kind="dequantised", text=f"is A with {plural(count, 'tensor')} unpacked")
    elif packed:
        said = ", ".join(f"{number:,} from {one} to {other}" for (one, other), number in packed.items())
        yield Relation(kind="requantised", text=f"stores tensors otherwise: {said}")
    casts = {pair: number for pair, number in pairs.items() if pair not in packed}
    if len({other for _, other in casts}) == 1 and (a or b or sum(casts.values()) * 2 > len(matched.both)):
        target = next(iter(casts))[1]
        yield Relation(kind="cast", text=f"is A cast to {target}" if not (a or b) else f"is otherwise cast to {target}")
    elif casts:
        said = ", ".join(f"{plural(number, 'tensor')} from {one} to {other}" for (one, other), number in casts.items())
        yield Relation(kind="cast", text=f"casts {said}")


def _spelling(c: Compared, matched: Matched) -> Iterator[Relation]:
    renamed = len(matched.renamed)
    copies = [len(one.copies) if one else 0 for one in c.inventories]
    if renamed:
        yield Relation(kind="spelling", text=f"names or lays out {plural(renamed, 'tensor')} otherwise")
    if copies[0] != copies[1]:
        who, more = ("A", copies[0]) if copies[0] > copies[1] else ("B", copies[1])
        text = (
            "stores no copies of tied or obsolete tensors, and A does"
            if who == "A"
            else (
                f"also stores {plural(more - copies[0], 'copy').replace('copys', 'copies')} of tied or obsolete tensors"
            )
        )
        yield Relation(kind="spelling", text=text)
