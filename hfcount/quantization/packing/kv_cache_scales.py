"""Scales of an 8-bit KV cache, stored in attention modules or in the block around them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hfcount.quantization.packing.expected import module_of
from hfcount.spec import GQA, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf, split

_DTYPES = ("F32", "BF16", "F16")
_PAIR = {"k_scale": "v_scale", "v_scale": "k_scale"}
_KEYS = ("k_proj", "qkv_proj", "kv_b_proj")
"""Projections that compute the keys of a decoder; each block has one of them."""

Texts = tuple[str, ...]
Places = dict[tuple[int, ...], Leaf]
"""The matrix of a module by the numbers in its name."""


@dataclass(frozen=True, slots=True)
class Heads:
    """How a cache is scaled: by heads, or by one scalar.

    Args:
        apart: whether each head has a scale.
        mixers: the attention of the model's own layers, of whose heads scales are.
        others: that of its other parts.
    """

    apart: bool = False
    mixers: frozenset[GQA] = frozenset()
    others: frozenset[GQA] = frozenset()

    @classmethod
    def of(cls, spec: Spec, apart: bool) -> "Heads":
        """The heads of a model and its parts."""
        return cls(True, frozenset(_mixers(spec)), frozenset(_others(spec))) if apart else cls()

    def shape(self, scale: str, module: Leaf) -> tuple[int, ...]:
        """The shape of a scale of a matrix; that of a scalar where the heads are unknown."""
        if not self.apart:
            return ()
        mixers, rows = self.mixers if module.component == "attention" else self.others, int(module.shape[0])
        matching = [gqa for gqa in mixers if rows in (gqa.kv_heads * gqa.head_dim, gqa.heads * gqa.head_dim)]
        counts = {int(gqa.heads if scale == "q_scale" else gqa.kv_heads) for gqa in matching or mixers}
        return (counts.pop(), 1, 1) if len(counts) == 1 else ()


_WHOLE = Heads()


def _mixers(spec: Spec) -> Iterator[GQA]:
    yield from (part.layer.mixer for part in spec.layers if isinstance(part.layer.mixer, GQA))


def _others(spec: Spec) -> Iterator[GQA]:
    for part in spec.parts.values():
        yield from _mixers(part)
        yield from _others(part)


class CacheScales(NamedTuple):
    """Scales of a cache: those of the blueprint's modules, those that others have and a module lacks, other names."""

    stored: Sequence[Leaf] = ()
    lacking: Sequence[Leaf] = ()
    unknown: Sequence[str] = ()


def scales(names: Sequence[str], leaves: Sequence[Leaf], heads: Heads = _WHOLE) -> CacheScales:
    """The scales among `names`, by the modules or blocks of the blueprint that they stand in.

    Where one layer has scales of its keys or values, all need them: servers take 1 for what is not there.
    """
    groups: dict[Texts, set[tuple[int, ...]]] = {}
    for name in names:
        text, numbers = split(name)
        groups.setdefault(text, set()).add(numbers)
    stored: list[Leaf] = []
    lacking: list[Leaf] = []
    unknown: list[str] = []
    modules = _modules(leaves) if names else {}
    for text in dict.fromkeys((*groups, *filter(None, map(_paired, groups)))):
        there = groups.get(text, set())
        every, needed = _places(text, modules)
        stored += _leaves(text, there & every.keys(), every, heads)
        unknown += [_joined(text, numbers) for numbers in sorted(there - every.keys())]
        lacking += _leaves(text, needed.keys() - there, needed, heads)
    return CacheScales(stored, lacking, unknown)


def usual(leaves: Sequence[Leaf], heads: Heads) -> list[Leaf]:
    """The scales that llm-compressor stores in the attention of a decoder, which it finds by that name."""
    stored: list[Leaf] = []
    for text, places in _modules(leaf for leaf in leaves if leaf.component == "attention").items():
        block, module = text[-1].rpartition(".")[::2]
        if module in _KEYS and block.endswith(".self_attn"):
            for scale in _PAIR:
                stored += _leaves((*text[:-1], f"{block}.{scale}"), places.keys(), places, heads)
    return [leaf.replace(dtypes=()) for leaf in stored]


def _modules(leaves: Iterable[Leaf]) -> dict[Texts, Places]:
    """The modules that have a matrix, by the texts of their names and the numbers in them."""
    modules: dict[Texts, Places] = {}
    for leaf in leaves:
        if module_of(leaf) and leaf.presence != "obsolete" and leaf.count:
            texts = split(leaf.first)[0]
            module = (*texts[:-1], texts[-1].rpartition(".")[0])
            modules.setdefault(module, {}).update((split(name)[1], leaf) for name in leaf.names())
    return modules


def _places(text: Texts, modules: Mapping[Texts, Places]) -> tuple[Places, Places]:
    """Where a scale may be: in the module of its name, or in the block of that name. And where it has to be."""
    end, scale = text[-1].rpartition(".")[::2]
    around = (*text[:-1], end)
    if around in modules:
        every = needed = modules[around]
    else:
        inner = {
            module[-1].rpartition(".")[2]: places
            for module, places in modules.items()
            if module[:-1] == text[:-1] and module[-1].rpartition(".")[0] == end
        }
        every = _merged(inner.values())
        needed = inner.get(f"{scale[0]}_proj", every)
    if scale not in _PAIR:
        return every, {}
    return every, {numbers: leaf for numbers, leaf in needed.items() if leaf.part == "model"}


def _merged(some: Iterable[Places]) -> Places:
    return {numbers: leaf for places in some for numbers, leaf in places.items()}


def _paired(text: Texts) -> Texts | None:
    """The name of the values' scale beside that of the keys, or the reverse; None for other scales."""
    end, scale = text[-1].rpartition(".")[::2]
    other = _PAIR.get(scale)
    if other is None:
        return None
    block, module = end.rpartition(".")[::2]
    if module == f"{scale[0]}_proj":
        end = f"{block}.{other[0]}_proj"
    return (*text[:-1], f"{end}.{other}")


def _joined(text: Texts, numbers: Sequence[int]) -> str:
    return "".join(f"{part}.{number}" for part, number in zip(text, numbers, strict=False))[1:] + text[-1]


def _leaves(text: Texts, numbers: Collection[tuple[int, ...]], places: Places, heads: Heads) -> list[Leaf]:
    """Leaves for scales whose names have these texts and numbers: one a shape if there is one number in each name."""
    scale = text[-1].rpartition(".")[2]
    shapes: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for place in sorted(numbers):
        shapes.setdefault(heads.shape(scale, places[place]), []).append(place)
    return [leaf for shape, some in shapes.items() for leaf in _folded(text, some, shape)]


def _folded(text: Texts, places: Sequence[tuple[int, ...]], shape: tuple[int, ...]) -> Iterator[Leaf]:
    numbers = [[Indices.of(number for (number,) in places)]] if len(places[0]) == 1 else None
    for some in numbers or [[Indices.of((number,)) for number in place] for place in places]:
        segments: tuple[str | Indices, ...] = tuple(text[0][1:].split("."))
        for indices, rest in zip(some, text[1:], strict=True):
            segments += (indices, *rest[1:].split("."))
        count = some[0].count if numbers else 1
        yield Leaf(segments, shape, "buffer", "attention", count, count, presence="spare", dtypes=_DTYPES)
