"""Finds tensors of one constant value that neither initialisation nor training explains."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hfcount.checkpoints.data import adapter_zeros
from hfcount.checkpoints.data.experts import idle_experts
from hfcount.checkpoints.data.initial_values import Beginnings, constant, zero
from hfcount.checkpoints.data.subjects import Subject, Subjects
from hfcount.verifier.findings import Outcome

_SIZE = 4096  # inputs and outputs of a matrix, to see what a layout calls its tensors

_WRITERS = frozenset(("o_proj", "out_proj", "c_proj", "down_proj", "fc2", "w2", "wo"))
"""Matrices that a layer writes its results with."""

_LAYER = re.compile(r".*?\.\d+\.")

Groups = Sequence[Sequence[Subject]]
"""Tensors, those of one leaf together."""


class Constants(NamedTuple):
    """Tensors that were lost, zero ones of added layers that are not trained yet, and those of pruned experts."""

    lost: list[Subject]
    begun: list[Subject]
    pruned: list[Subject]


def constants(subjects: Subjects, loaded: Sequence[Subject], outcome: Outcome) -> Constants:
    """The constant tensors whose value is not their initial one.

    Args:
        loaded: the tensors of `subjects` that a loader reads.
    """
    of_leaf: dict[int, list[Subject]] = {}
    for tensor in loaded:
        if tensor.leaf is not None and not (tensor.packed or _unused(tensor)) and (tensor.matrix or tensor.norm):
            of_leaf.setdefault(id(tensor.leaf), []).append(tensor)
    groups = list(of_leaf.values())
    wrong = {tensor.name: tensor for tensor in Beginnings(subjects, groups).doubtful()}
    layers, branches = _layers(wrong, groups), _branches(wrong, groups, subjects)
    begun = layers | branches if wrong.keys() == layers | branches else layers  # where more was lost, so were branches
    matrices = [tensor for group in groups for tensor in group if tensor.matrix]
    pruned = idle_experts(matrices, list(filter(zero, wrong.values())))
    lost = [tensor for name, tensor in wrong.items() if name not in begun | pruned]
    lost += [tensor for tensor in loaded if _zero_in_gguf(tensor) or _no_variance(tensor)]
    lost += _codes(loaded, outcome) + adapter_zeros.zeros(subjects, loaded)
    named = [[wrong[name] for name in wrong if name in names] for names in (begun - pruned, pruned)]
    return Constants(lost, *named)


def _layers(wrong: Mapping[str, Subject], groups: Groups) -> set[str]:
    """The tensors of layers with zero output matrices where other layers have none, as in newly added layers."""
    written: dict[str, list[Subject]] = {}
    others: set[str] = set()
    for tensor in (tensor for group in groups for tensor in group):
        layer = _LAYER.match(tensor.name)
        if layer and tensor.matrix and tensor.name.removesuffix(".weight").rpartition(".")[2] in _WRITERS:
            written.setdefault(layer[0], []).append(tensor)
        elif layer and tensor.name in wrong:
            others.add(layer[0])
    silent = [
        group for layer, group in written.items() if layer not in others and len(group) > 1 and all(map(zero, group))
    ]
    return {tensor.name for group in silent for tensor in group} if len(silent) < len(written) else set()


def _branches(wrong: Mapping[str, Subject], groups: Groups, subjects: Subjects) -> set[str]:
    """The tensors of branches that output zero in every layer, biases included, as a new ControlNet does."""

    def begun(tensor: Subject) -> bool:
        return tensor.name in wrong and tensor.matrix and zero(tensor) and zero(subjects.beside(tensor.name, ("bias",)))

    matrices = [group for group in groups if group[0].matrix]
    unwritten = [group for group in matrices if all(map(begun, group))]
    if not any(len(group) > 1 for group in unwritten) or 2 * len(unwritten) >= len(matrices):
        return set()
    return {tensor.name for group in unwritten for tensor in group}


def _zero_in_gguf(tensor: Subject) -> bool:
    """Whether it is a matrix of zeros in a GGUF file, whose names are no leaves; of blocks, scales say as much."""
    weight = tensor.place.file.lower().endswith(".gguf") and tensor.name.endswith(".weight") and not tensor.blocks
    return weight and zero(tensor) and not _unused(tensor) and sum(size > 1 for size in tensor.shape) > 1


def _no_variance(tensor: Subject) -> bool:
    """Whether it is the variance of a batch norm, by whose root is divided: it begins with ones."""
    return tensor.buffer and tensor.name.endswith("running_var") and zero(tensor)


def _unused(tensor: Subject) -> bool:
    """Whether it embeds types of tokens: models that have but one were converted from fairseq with zeros there."""
    return zero(tensor) and "token_type" in tensor.name


def _codes(loaded: Sequence[Subject], outcome: Outcome) -> list[Subject]:
    """Packed weights that are all the same."""
    if outcome.packed is None:
        return []
    layouts = {packing.layout for packing in outcome.packed.packed if packing.layout}
    codes = {layout.parts(_SIZE, _SIZE)[0] for layout in layouts}

    def packed(tensor: Subject) -> bool:
        dtype = tensor.place.entry.dtype
        return (
            tensor.packed
            and not tensor.scale
            and any(tensor.name.endswith(c.suffix) and (not c.dtypes or dtype in c.dtypes) for c in codes)
        )

    return [tensor for tensor in loaded if tensor.tally.count > 1 and constant(tensor) and packed(tensor)]
