"""Finds weights that are the same to the bit as others of their model, which nothing ties.

Sums of what was read tell which tensors may be the same; only these are read again. Libraries begin some layers as
copies of one another (`copy.deepcopy` of a layer), so that nothing is said of a model whose norms are all as they began
where all of its layers are the same.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hfcount.checkpoints.data.findings import reported
from hfcount.checkpoints.data.initial_values import constant
from hfcount.checkpoints.data.source import Source, counts_up, same_bytes
from hfcount.checkpoints.data.subjects import Subject
from hfcount.spec.tree.leaves import split
from hfcount.verifier.rules.hf910_copied_weights import Copied, CopiedWeights

_LEAST = 64  # elements of a tensor whose copy means something
_HEAD = 256  # bytes of an expert in a stack that are compared first


@dataclass
class _Copies:
    """Tensors that are copies, by what differs in their names.

    Args:
        siblings: of another tensor of their module or of their stack of layers, with the name of that.
        layers: by the two layers, the later one first.
        experts: by the two experts, the later one first.
    """

    siblings: list[tuple[Subject, str]] = field(default_factory=list)
    layers: dict[tuple[str, str], list[tuple[Subject, Subject]]] = field(default_factory=dict)
    experts: dict[tuple[str, str], list[Subject]] = field(default_factory=dict)


def copied_weights(
    loaded: Sequence[Subject], source: Source, begun: Collection[Subject] = ()
) -> Iterator[CopiedWeights]:
    """The weights that are copies.

    Args:
        begun: the zero matrices of layers that add nothing yet: block expansion (LLaMA Pro) copies the layer before.
    """
    matrices = [
        tensor for tensor in loaded if tensor.varied and tensor.tally.count >= _LEAST and not _is_diagonal(tensor)
    ]
    norms = [tensor for tensor in loaded if tensor.norm]
    fresh = bool(norms) and all(map(constant, norms))
    copies = _Copies()
    for copy, other in _same(matrices, source):
        _sort(copies, copy, other)
    yield from _of_siblings(copies.siblings, matrices)
    yield from _of_layers(copies.layers, matrices, fresh, {tensor.name for tensor in begun})
    stacked = {tensor.name: _stacked(tensor, source) for tensor in matrices if _is_stack(tensor)}
    yield from _of_experts(copies.experts, stacked, matrices)


def _is_diagonal(tensor: Subject) -> bool:
    """Whether it has no more values than a diagonal, as an identity that a model begins with."""
    return tensor.tally.count - tensor.tally.zeros <= max(tensor.shape)


def _same(matrices: Sequence[Subject], source: Source) -> Iterator[tuple[Subject, Subject]]:
    """Each tensor that is the same as an earlier one of its kind or module, and the first such one."""
    alike: dict[object, list[Subject]] = {}
    for tensor in matrices:
        alike.setdefault((tensor.place.entry.dtype, tensor.tally.count, _figures(tensor)), []).append(tensor)
    for group in alike.values():
        for number, tensor in enumerate(group):
            for other in group[:number]:
                if _related(tensor, other) and _same_values(tensor, other, source):
                    yield tensor, other
                    break


def _figures(tensor: Subject) -> tuple[object, ...]:
    """What the values of two tensors have in common if they are the same; of whole numbers nothing is summed."""
    tally = tensor.tally
    return tally.zeros, tally.least, tally.most, tally.total, tally.squares


def _same_values(tensor: Subject, other: Subject, source: Source) -> bool:
    """Whether they are the same, and no codes that count up, as those of a table."""
    return not counts_up(tensor.place, source) and same_bytes(source, tensor.place, other.place)


def _related(tensor: Subject, other: Subject) -> bool:
    """Whether they are the same tensor of two layers or experts, or two tensors of one module or stack of layers.

    Whole stacks begin as copies of others, as a decoder of its encoder.
    """
    text, there = split(tensor.name)[0], split(other.name)[0]
    return text == there or _module(tensor.name) == _module(other.name) or (len(text) > 1 and text[0] == there[0])


def _module(name: str) -> str:
    """The module that holds the layer of a weight: `mlp` of `mlp.up_proj.weight`."""
    return name.rpartition(".")[0].rpartition(".")[0]


def _sort(copies: _Copies, copy: Subject, other: Subject) -> None:
    text, numbers = split(copy.name)
    if text != split(other.name)[0]:
        copies.siblings.append((copy, other.name))
        return
    place = next(
        place for place, pair in enumerate(zip(numbers, split(other.name)[1], strict=True)) if pair[0] != pair[1]
    )
    names = _up_to(copy.name, place), _up_to(other.name, place)
    if "expert" in text[place]:
        copies.experts.setdefault(names, []).append(copy)
    else:
        copies.layers.setdefault(names, []).append((copy, other))


def _of_siblings(siblings: Sequence[tuple[Subject, str]], matrices: Sequence[Subject]) -> Iterator[CopiedWeights]:
    """Tensors that hold the values of another one; a note if a whole module does, which may have begun as that."""
    modules = Counter((_module(copy.name), _module(other)) for copy, other in siblings)
    sizes = Counter(_module(tensor.name) for tensor in matrices)
    faults: dict[tuple[bool, tuple[str, ...], tuple[str, ...]], list[tuple[Subject, str]]] = {}
    for copy, other in siblings:
        module, origin = _module(copy.name), _module(other)
        meant = module != origin and modules[module, origin] == sizes[module] > 1
        faults.setdefault((meant, split(copy.name)[0], split(other)[0]), []).append((copy, other))
    for (meant, *_), copies in faults.items():  # the same two tensors of several layers are one fault
        facts: dict[str, object] = {"kind": "tensor", "expected": copies[0][1]}
        if meant:
            facts |= {"severity": "note", "fix": CopiedWeights.meant}
        yield from reported(CopiedWeights, [copy for copy, _ in copies], facts)


def _up_to(name: str, place: int) -> str:
    """A name up to one of its numbers: `model.layers.3`."""
    text, numbers = split(name)
    parts = [f"{before}.{number}" for before, number in zip(text, numbers[: place + 1], strict=False)]
    return "".join(parts).lstrip(".")


def _of_layers(
    layers: Mapping[tuple[str, str], list[tuple[Subject, Subject]]],
    matrices: Sequence[Subject],
    fresh: bool,
    silent: Collection[str],
) -> Iterator[CopiedWeights]:
    """Layers that are copies as a whole, and tensors that other layers have too."""
    whole = {}
    for (copy, expected), pairs in layers.items():
        every = [tensor for tensor in matrices if tensor.name.startswith(f"{copy}.")]
        if len(pairs) == len(every) > 1:
            whole[copy] = expected, [tensor for tensor, _ in pairs]
        elif not _by_design(pairs, matrices):
            names = {"kind": "tensor", "expected": pairs[0][1].name}
            yield from reported(CopiedWeights, [tensor for tensor, _ in pairs], names)
    stacks: dict[str, list[str]] = {}
    for copy in whole:
        stacks.setdefault(copy.rpartition(".")[0], []).append(copy)
    for stack, copied in stacks.items():
        every_layer = {_layer(tensor.name, stack) for tensor in matrices if tensor.name.startswith(f"{stack}.")}
        if fresh and len(copied) == len(every_layer) - 1:
            continue
        added = {copy for copy in copied if any(name.startswith(f"{copy}.") for name in silent)}
        yield from _ranges({copy: whole[copy] for copy in copied}, added)


def _by_design(pairs: Sequence[tuple[Subject, Subject]], matrices: Sequence[Subject]) -> bool:
    """Whether the same tensor is the same in all layers, as those of heads that layers share."""
    texts = {split(tensor.name)[0] for tensor, _ in pairs}
    values = {_figures(tensor) for tensor in matrices if split(tensor.name)[0] in texts}
    return len(values) == len(texts)


def _layer(name: str, stack: str) -> str:
    return name.removeprefix(f"{stack}.").partition(".")[0]


def _ranges(whole: Mapping[str, tuple[str, list[Subject]]], added: Collection[str]) -> Iterator[CopiedWeights]:
    """Layers that are copies: several, as merges repeat, and those that add nothing yet are a note."""
    steps: dict[tuple[int, bool], list[str]] = {}
    for copy, (expected, _) in whole.items():
        steps.setdefault((_number(copy) - _number(expected), copy in added), []).append(copy)
    for (_, silent), names in steps.items():
        tensors = [tensor for name in names for tensor in whole[name][1]]
        kind: Copied = "layers" if len(names) > 1 else "layer"
        facts: dict[str, object] = {"kind": kind, "copy": _several(names)}
        facts |= {"expected": _several([whole[name][0] for name in names])}
        if silent or len(names) > 1:
            facts |= {"severity": "note", "fix": CopiedWeights.meant}
        yield from reported(CopiedWeights, tensors, facts)


def _several(layers: Sequence[str]) -> str:
    """Layers of one stack as one text: `model.layers.3 to 5`, or `model.layers.3, 7, 11`."""
    numbers = sorted(_number(layer) for layer in layers)
    first, last = f"{layers[0].rpartition('.')[0]}.{numbers[0]}", numbers[-1]
    if len(numbers) == 1:
        return first
    if last - numbers[0] == len(numbers) - 1:
        return f"{first} to {last}"
    return ", ".join([first, *map(str, numbers[1:])])


def _number(layer: str) -> int:
    return int(layer.rpartition(".")[2])


def _is_stack(tensor: Subject) -> bool:
    expert = tensor.leaf is not None and tensor.leaf.component == "experts"
    return expert and len(tensor.shape) == 3 and tensor.shape[0] > 1


def _stacked(tensor: Subject, source: Source) -> list[tuple[int, int]]:
    """The experts of a stack that are the same as an earlier one, and that one."""
    size = tensor.place.size // tensor.shape[0]
    heads = source.parts(tensor.place, [number * size for number in range(tensor.shape[0])], min(_HEAD, size))
    first: dict[bytes, int] = {}
    pairs = []
    for number, head in enumerate(heads):
        other = first.setdefault(head, number)
        if other != number and len({*head}) > 2 and _same_slices(tensor, source, (number, other), size):
            pairs.append((number, other))
    return pairs


def _same_slices(tensor: Subject, source: Source, pair: tuple[int, int], size: int) -> bool:
    a, b = source.parts(tensor.place, [number * size for number in pair], size)
    return a == b


def _of_experts(
    experts: Mapping[tuple[str, str], list[Subject]],
    stacked: Mapping[str, list[tuple[int, int]]],
    matrices: Sequence[Subject],
) -> Iterator[CopiedWeights]:
    """Experts that are copies; a note if all are, as in a model that was made of a dense one."""
    by_name = {tensor.name: tensor for tensor in matrices}
    pairs: dict[tuple[str, str], list[Subject]] = dict(experts)
    for name, same in stacked.items():
        module = name.removesuffix(".weight")
        for number, other in same:
            pairs.setdefault((f"{module}[{number}]", f"{module}[{other}]"), []).append(by_name[name])
    if not pairs:
        return
    copy, expected = next(iter(pairs))
    every = [tensor for several in pairs.values() for tensor in several]
    if _all_are(experts, stacked, by_name):
        facts: dict[str, object] = {"kind": "all experts", "expected": expected, "copy": copy.rpartition(".")[0]}
        yield from reported(CopiedWeights, every, facts | {"severity": "note", "fix": CopiedWeights.meant})
        return
    yield from reported(CopiedWeights, every, {"kind": "experts", "expected": expected, "copy": copy})


def _all_are(
    experts: Mapping[tuple[str, str], list[Subject]],
    stacked: Mapping[str, list[tuple[int, int]]],
    by_name: Mapping[str, Subject],
) -> bool:
    """Whether all experts of all layers are the same as the first of their layer."""
    copies = {tensor.name for several in experts.values() for tensor in several}
    single = [name for name, tensor in by_name.items() if _is_expert(tensor) and not _is_stack(tensor)]
    unlike = [name for name in single if name not in copies]
    layers = {(split(name)[0], split(name)[1][:-1]) for name in single}
    whole = all(len(same) == by_name[name].shape[0] - 1 for name, same in stacked.items())
    return len(unlike) == len(layers) and whole


def _is_expert(tensor: Subject) -> bool:
    return tensor.leaf is not None and tensor.leaf.component == "experts"
