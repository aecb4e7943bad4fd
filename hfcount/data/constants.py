"""Tensors of one value where no library begins with such values, and no training ends with them.

What libraries begin with was tried on 190 types of transformers 5.23, freshly made. Tokens, scales and tables of
positions begin with zeros or ones; of matrices that are called `weight`, and of experts, only those that start a block
as nothing, in all layers alike. Training moves all of these, and norms with them.
"""

from collections.abc import Mapping, Sequence

from hfcount.data.subjects import Subject
from hfcount.verifier.findings import Outcome

_SIZE = 4096  # inputs and outputs of a matrix, to see what a layout calls its tensors


def constants(loaded: Sequence[Subject], outcome: Outcome) -> list[Subject]:
    """The tensors whose only value is no sound one."""
    of_leaf: dict[int, list[Subject]] = {}
    for one in loaded:
        if one.leaf is not None and not one.packed and (one.matrix or one.norm):
            of_leaf.setdefault(id(one.leaf), []).append(one)
    dense = [one for some in of_leaf.values() for one in some]
    norms = [one for one in dense if one.norm]
    if norms and all(map(_constant, norms)):
        wrong = _of_a_fresh_model(of_leaf)
    else:
        wrong = [one for one in dense if _constant(one) and (one.matrix or one.tally.constant == 0)]
    return wrong + [one for one in loaded if _zero_in_gguf(one)] + _codes(loaded, outcome)


def _constant(one: Subject) -> bool:
    return one.tally.constant is not None


def _zero_in_gguf(one: Subject) -> bool:
    """Whether it is a matrix of zeros in a GGUF file, whose names are no leaves; of blocks, scales say as much."""
    weight = one.place.file.lower().endswith(".gguf") and one.name.endswith(".weight") and not one.blocks
    return weight and len(one.shape) > 1 and one.tally.constant == 0


def _of_a_fresh_model(of_leaf: Mapping[int, Sequence[Subject]]) -> list[Subject]:
    """Matrices unlike the same of other layers; and those that are constant in all, unless that is by design."""
    matrices = [some for some in of_leaf.values() if _begins_random(some[0])]
    constant = [some for some in matrices if all(map(_constant, some))]
    wrong = [one for some in matrices if some not in constant for one in some if _constant(one)]
    by_design = any(len(some) > 1 for some in constant) and 2 * len(constant) < len(matrices)
    return wrong if by_design else wrong + [one for some in constant for one in some]


def _begins_random(one: Subject) -> bool:
    return one.matrix and one.leaf is not None and (one.name.endswith(".weight") or one.leaf.component == "experts")


def _codes(loaded: Sequence[Subject], outcome: Outcome) -> list[Subject]:
    """Packed weights that are all the same."""
    if outcome.packed is None:
        return []
    layouts = {found.layout for found in outcome.packed.packed if found.layout}
    ends = tuple({layout.parts(_SIZE, _SIZE)[0].suffix for layout in layouts})
    return [one for one in loaded if one.packed and one.name.endswith(ends) and one.tally.count > 1 and _constant(one)]
