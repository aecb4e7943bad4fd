"""Tensors of one value where no library begins with such values, and no training ends with them."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hfcount.checkpoints.data import adapter_zeros
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
    """The tensors that were lost, and those of layers that were added with zeros and are yet to be trained."""

    lost: list[Subject]
    begun: list[Subject]


def constants(subjects: Subjects, loaded: Sequence[Subject], outcome: Outcome) -> Constants:
    """The tensors whose only value is not what they began with.

    Args:
        loaded: those of `subjects` that a loader takes.
    """
    of_leaf: dict[int, list[Subject]] = {}
    for one in loaded:
        if one.leaf is not None and not (one.packed or _unused(one)) and (one.matrix or one.norm):
            of_leaf.setdefault(id(one.leaf), []).append(one)
    groups = list(of_leaf.values())
    wrong = {one.name: one for one in Beginnings(subjects, groups).doubtful()}
    layers, branches = _layers(wrong, groups), _branches(wrong, groups, subjects)
    begun = layers | branches if wrong.keys() == layers | branches else layers  # where more was lost, so were branches
    lost = [one for name, one in wrong.items() if name not in begun]
    lost += [one for one in loaded if _zero_in_gguf(one) or _no_variance(one)]
    lost += _codes(loaded, outcome) + adapter_zeros.zeros(subjects, loaded)
    return Constants(lost, [wrong[name] for name in wrong if name in begun])


def _layers(wrong: Mapping[str, Subject], groups: Groups) -> set[str]:
    """Those of layers that write nothing, among others that do: they pass on what they get, as added ones begin."""
    written: dict[str, list[Subject]] = {}
    others: set[str] = set()
    for one in (one for some in groups for one in some):
        layer = _LAYER.match(one.name)
        if layer and one.matrix and one.name.removesuffix(".weight").rpartition(".")[2] in _WRITERS:
            written.setdefault(layer[0], []).append(one)
        elif layer and one.name in wrong:
            others.add(layer[0])
    silent = [some for layer, some in written.items() if layer not in others and len(some) > 1 and all(map(zero, some))]
    return {one.name for some in silent for one in some} if len(silent) < len(written) else set()


def _branches(wrong: Mapping[str, Subject], groups: Groups, subjects: Subjects) -> set[str]:
    """Those of branches that add nothing in any layer, and whose biases are zeros as well: so ControlNets begin."""

    def begun(one: Subject) -> bool:
        return one.name in wrong and one.matrix and zero(one) and zero(subjects.beside(one.name, ("bias",)))

    matrices = [some for some in groups if some[0].matrix]
    found = [some for some in matrices if all(map(begun, some))]
    if not any(len(some) > 1 for some in found) or 2 * len(found) >= len(matrices):
        return set()
    return {one.name for some in found for one in some}


def _zero_in_gguf(one: Subject) -> bool:
    """Whether it is a matrix of zeros in a GGUF file, whose names are no leaves; of blocks, scales say as much."""
    weight = one.place.file.lower().endswith(".gguf") and one.name.endswith(".weight") and not one.blocks
    return weight and zero(one) and not _unused(one) and sum(size > 1 for size in one.shape) > 1


def _no_variance(one: Subject) -> bool:
    """Whether it is the variance of a batch norm, by whose root is divided: it begins with ones."""
    return one.buffer and one.name.endswith("running_var") and zero(one)


def _unused(one: Subject) -> bool:
    """Whether it embeds types of tokens: models that have but one were converted from fairseq with zeros there."""
    return zero(one) and "token_type" in one.name


def _codes(loaded: Sequence[Subject], outcome: Outcome) -> list[Subject]:
    """Packed weights that are all the same."""
    if outcome.packed is None:
        return []
    layouts = {found.layout for found in outcome.packed.packed if found.layout}
    codes = {layout.parts(_SIZE, _SIZE)[0] for layout in layouts}

    def packed(one: Subject) -> bool:
        dtype = one.place.entry.dtype
        return (
            one.packed
            and not one.scale
            and any(one.name.endswith(c.suffix) and (not c.dtypes or dtype in c.dtypes) for c in codes)
        )

    return [one for one in loaded if one.tally.count > 1 and constant(one) and packed(one)]
