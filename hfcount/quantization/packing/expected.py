"""The expected tensors of a quantised model: the blueprint's leaves, with those of packed modules replaced."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hfcount.quantization.layout import Layout, PackedTensor
from hfcount.quantization.packing.split import Segments, split
from hfcount.quantization.packing.stacks import apart, is_stack, matrix, together, transposed
from hfcount.quantization.scheme import Choice, Module, Scheme
from hfcount.spec.tree.leaves import Leaf
from hfcount.spec.tree.nodes import Presence

_WEIGHT = "weight"


class ModuleGroup(NamedTuple):
    """Modules of one leaf that a scheme stores alike; `leaf` is their dense weight."""

    leaf: Leaf
    choice: Choice


def module_of(leaf: Leaf) -> Segments | None:
    """The name of the module whose matrix a leaf is; None if it is no module's matrix."""
    if is_stack(leaf):
        return leaf.segments
    if leaf.segments[-1] == _WEIGHT and len(leaf.shape) >= 2 and leaf.kind == "parameter":
        return leaf.segments[:-1]
    return None


class Surroundings(NamedTuple):
    """Blocks of a model by what stands in them beside a matrix.

    Args:
        attention: torch's MultiheadAttention, which alone calls a matrix `in_proj_weight`.
        others: modules with more than a weight and a bias, so that they are no linear maps.
        turned: stacks of experts' matrices (inputs, outputs).
        biased: modules with a bias.
    """

    attention: frozenset[Segments]
    others: frozenset[Segments]
    turned: frozenset[Segments]
    biased: frozenset[Segments]

    @classmethod
    def of(cls, leaves: Sequence[Leaf]) -> "Surroundings":
        """The blocks that these leaves stand in."""
        ends = [(leaf.segments[:-1], leaf.segments[-1]) for leaf in leaves]
        return cls(
            frozenset(block for block, end in ends if end == "in_proj_weight"),
            frozenset(block for block, end in ends if end not in ("weight", "bias")),
            transposed(leaves),
            frozenset(block for block, end in ends if end == "bias"),
        )


def groups(leaf: Leaf, scheme: Scheme, around: Surroundings) -> list[ModuleGroup]:
    """The modules of a leaf, by how the scheme's settings say that they are stored; none if it is no matrix."""
    name = module_of(leaf)
    if name is None:
        return []
    flat = len(leaf.shape) == 2 or leaf.linear
    linear = leaf.linear or bool(leaf.tied_to) or (leaf.turned and scheme.packs_turned)
    prediction = leaf.part == "prediction"
    outputs, inputs = map(int, leaf.shape[:-3:-1] if leaf.turned else leaf.shape[-2:])
    inner, plain = leaf.segments[:-2] in around.attention, leaf.segments[:-1] not in around.others

    def decide(name: str) -> Choice:
        return scheme.chosen(Module(name, leaf.component, linear, prediction, inputs, outputs, inner, plain))

    if not flat and not is_stack(leaf):
        return []
    end = leaf.segments[len(name) :]
    return [
        ModuleGroup(part_of(leaf, (*segments, *end)), choice)
        for segments, choice in split(name, decide, lambda word: _numbers(scheme, word))
    ]


def _numbers(scheme: Scheme, word: str) -> set[int] | range:
    result: set[int] = set()
    for matcher in scheme.matchers:
        matcher_numbers = matcher.numbers(word)
        if isinstance(matcher_numbers, range):
            return matcher_numbers
        result.update(matcher_numbers)
    return result


def part_of(leaf: Leaf, segments: Segments) -> Leaf:
    """The leaf for fewer numbers: those in `segments`."""
    if segments == leaf.segments:
        return leaf
    count, total = 1, 1
    for fewer, all_numbers in zip(segments, leaf.segments, strict=True):
        if not isinstance(fewer, str) and not isinstance(all_numbers, str):
            count, total = count * int(fewer.count), total * int(all_numbers.count)
    return leaf.replace(segments=segments, count=int(leaf.count) * count // total)


def packed(leaf: Leaf, layout: Layout, block: Segments, around: Surroundings) -> list[tuple[PackedTensor, Leaf]]:
    """The stored tensors of packed modules with what they are parts of, the packed weight first.

    Args:
        leaf: the dense weight of the modules, some of those of a block.
    """
    name = module_of(leaf) or ()
    outputs, inputs = matrix(leaf, block in around.turned)
    lead = tuple(leaf.shape[:-2])
    # A scalar of a stack is mostly one for all of it.
    parts = [
        part._replace(shape=(*lead, *part.shape) if part.shape or part.each else ())
        for part in layout.parts(outputs, inputs)
    ]
    if layout.bias and block not in around.biased:
        parts.append(layout.bias._replace(shape=(*lead, outputs)))
    return [(part, _tensor(leaf, name, part)) for part in parts]


def _tensor(leaf: Leaf, module: Segments, part: PackedTensor) -> Leaf:
    first, *rest = part.suffix.split(".")
    segments = (*module, *rest) if not first else (*module[:-1], f"{module[-1]}{first}", *rest)
    presence: Presence = leaf.presence if part.needed else "spare"
    shape = tuple(map(int, part.shape))
    return leaf.replace(
        segments=segments, shape=shape, presence=presence, linear=False, dtypes=part.dtypes, slack=part.slack
    )


class Planned(NamedTuple):
    """A leaf, or modules of it, as the settings say that they are stored.

    `choice` is None for what is no module's matrix; `parts` are the tensors of packed modules, the weight first.
    """

    leaf: Leaf
    choice: Choice | None
    parts: list[tuple[PackedTensor, Leaf]]


def planned(leaves: Sequence[Leaf], scheme: Scheme) -> Iterator[Planned]:
    """How the scheme's settings say that these leaves are stored."""
    split_leaves = apart(leaves) if scheme.packs_experts and any(map(is_stack, leaves)) else leaves
    around = Surroundings.of(split_leaves)
    for leaf in split_leaves:
        module_groups = groups(leaf, scheme, around)
        if not module_groups:
            yield Planned(leaf, None, [])
        for part, choice in module_groups:
            layout = choice.layout or choice.likely
            yield Planned(part, choice, packed(part, layout, leaf.segments[:-1], around) if layout else [])


def biases_apart(listed: Sequence[tuple[Leaf, int]], weights: Iterable[Leaf]) -> list[tuple[Leaf, int]]:
    """The leaves, with biases told apart by layers and experts as the weights beside them are."""
    beside: dict[Segments, list[Segments]] = {}
    for weight in weights:
        beside.setdefault(unnumbered(weight.segments[:-1]), []).append(weight.segments[:-1])
    result: list[tuple[Leaf, int]] = []
    for leaf, count in listed:
        modules = beside.get(unnumbered(leaf.segments[:-1]), []) if leaf.segments[-1] == "bias" else []
        parts = [part_of(leaf, (*module, "bias")) for module in modules]
        is_complete = len(parts) > 1 and count == leaf.count == sum(int(part.count) for part in parts)
        result += [(part, int(part.count)) for part in parts] if is_complete else [(leaf, count)]
    return result


def unnumbered(name: Segments) -> Segments:
    """A name without its numbers."""
    return tuple(segment if isinstance(segment, str) else "" for segment in name)


class ExpectedStorage(NamedTuple):
    """The stored tensors by the settings alone.

    `tensors` are leaves, `modules` the number of packed modules, `logical` the elements of their dense weights.
    """

    tensors: list[Leaf]
    modules: int
    logical: int


def expected(leaves: Sequence[Leaf], scheme: Scheme) -> ExpectedStorage:
    """The stored tensors of these leaves, by the scheme's settings alone."""
    tensors: list[Leaf] = []
    modules = logical = 0
    for leaf, _, parts in planned(together(leaves, scheme.stack) if scheme.stack else leaves, scheme):
        tensors += [tensor for part, tensor in parts if part.usual] or [leaf]
        if parts:
            modules, logical = modules + int(leaf.count), logical + leaf.elements
    return ExpectedStorage(tensors, modules, logical)
