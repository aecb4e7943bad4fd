"""The modules of a base model in memory, which adapters name; folded over layers and experts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.spellings import Spellings, Swap, renamed

Era = Literal["memory", "checkpoint"]
"""Which names: those of transformers 5 in memory, or those of checkpoints, which earlier versions had in memory too."""

Kind = Literal["linear", "transposed", "embedding", "conv", "norm", "other", "container"]
"""Kinds of modules: nn.Linear, Conv1D of GPT-2 (inputs by outputs), nn.Embedding, a convolution, a norm, any other, or
one that only holds others."""

Segments = tuple[str | Indices, ...]


@dataclass(frozen=True, slots=True)
class ModuleSet:
    """All modules whose paths differ only in indices.

    Args:
        segments: the path, split at dots; an Indices stands for every number in it.
        kind: what it is.
        tensors: the shapes, in elements, of the tensors that it holds itself, by their last names.
        head: whether it is an output embedding.
        tied_to: the path of the module whose weight it has; empty if it has its own.
    """

    segments: Segments
    kind: Kind
    tensors: Mapping[str, tuple[int, ...]]
    head: bool = False
    tied_to: str = ""

    @property
    def tied(self) -> bool:
        """Whether its weight is another module's."""
        return bool(self.tied_to)

    @property
    def weight(self) -> tuple[int, ...]:
        """The shape of its weight, in elements; empty if it has none."""
        return self.tensors.get("weight", ())

    @property
    def inputs(self) -> int:
        """The width of what goes in; of an embedding, its rows."""
        shape = self.weight
        place = 0 if self.kind in ("transposed", "embedding") else 1
        return shape[place] if len(shape) > place else 0

    @property
    def outputs(self) -> int:
        """The width of what comes out."""
        shape = self.weight
        place = 1 if self.kind in ("transposed", "embedding") else 0
        return shape[place] if len(shape) > place else 0

    @property
    def count(self) -> int:
        """How many modules it stands for."""
        return prod(int(part.count) for part in self.segments if isinstance(part, Indices))

    @property
    def first(self) -> str:
        """The first of its paths."""
        return ".".join(part if isinstance(part, str) else str(next(iter(part))) for part in self.segments)

    @property
    def name(self) -> str:
        """The folded path."""
        return ".".join(
            part if isinstance(part, str) else str(part) if part.count == 1 else f"{{{part}}}" for part in self.segments
        )

    def paths(self) -> Iterator[str]:
        """Every path, `count` of them."""
        spans = [[part] if isinstance(part, str) else [str(number) for number in part] for part in self.segments]
        return map(".".join, product(*spans))


def modules(spellings: Spellings, era: Era, leaves: Iterable[Leaf]) -> list[ModuleSet]:
    """The modules that hold tensors, with those tensors; in the order of the model."""
    known = [leaf for leaf in leaves if leaf.count and (leaf.stored or leaf.tied_to or leaf.twin)]
    if era == "memory":
        known = in_memory(spellings, known)
    groups: dict[Segments, list[Leaf]] = {}
    for leaf in known:
        groups.setdefault(leaf.segments[:-1], []).append(leaf)
    return [_module(path, inside) for path, inside in groups.items() if path]


def containers(known: Sequence[ModuleSet]) -> list[ModuleSet]:
    """The modules around those that hold tensors, which hold none themselves."""
    taken = {module.segments for module in known}
    around = {module.segments[:end]: None for module in known for end in range(1, len(module.segments))}
    return [ModuleSet(path, "container", {}) for path in around if path not in taken]


def in_memory(spellings: Spellings, leaves: Iterable[Leaf]) -> list[Leaf]:
    """The leaves under the names that transformers 5 gives them, with what it holds as one tensor joined."""
    result = [_in_class(leaf, renamed(leaf, spellings.common)[0], spellings.prefix) for leaf in leaves]
    for swap in spellings.swaps(result):
        gone = {id(leaf) for leaf in swap.described}
        if _is_memory(swap):
            place = next(place for place, leaf in enumerate(result) if id(leaf) in gone)
            result[place : place + 1] = [*swap.stored, result[place]]
            result = [leaf for leaf in result if id(leaf) not in gone]
    return result


def _in_class(leaf: Leaf, common: Leaf, prefix: str) -> Leaf:
    """A leaf under the name that all spellings have in common, with the base model's name in a class with a head."""
    before = tuple(prefix.split(".")[:-1])
    if leaf.segments[: len(before)] != before or common.segments[: len(before)] == before:
        return common
    return common.replace(segments=(*before, *common.segments))


def _is_memory(swap: Swap) -> bool:
    """Whether the other layout is that in memory: what is described apart is joined there, but no experts split."""
    numbers, others = (len(leaves[0].indices) for leaves in (swap.described, swap.stored))
    return others < numbers or (others == numbers and len(swap.stored) != len(swap.described))


def _module(path: Segments, leaves: list[Leaf]) -> ModuleSet:
    tensors = {str(leaf.segments[-1]): tuple(map(int, leaf.shape)) for leaf in leaves}
    weight = next((leaf for leaf in leaves if leaf.segments[-1] == "weight"), None)
    head = weight is not None and weight.component == "lm_head"
    table = (weight.tied_to or "") if weight is not None else ""
    return ModuleSet(path, _kind(weight, tensors), tensors, head, table.rpartition(".")[0])


def _kind(weight: Leaf | None, tensors: Mapping[str, tuple[int, ...]]) -> Kind:
    if weight is None:
        return "other"
    if weight.linear or (weight.component == "lm_head" and len(weight.shape) == 2):
        return "linear"
    if len(weight.shape) == 1:
        return "norm"
    if len(weight.shape) > 2:
        return "conv"
    if weight.component == "embedding":
        return "embedding"
    if tensors.get("bias") == tuple(map(int, weight.shape[1:])):
        return "transposed"
    return "other" if weight.component == "router" else "embedding"
