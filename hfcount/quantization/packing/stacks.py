"""Converts between one tensor for all experts of a layer and one for each expert."""

from collections.abc import Iterable

from hfcount.quantization.packing.split import Segments
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import Leaf

STACKED = 3
"""Dimensions of a stack of matrices."""

_FUSED = {"gate_up_proj": ("gate_proj", "up_proj"), "gate_up_proj_bias": ("gate_proj", "up_proj")}


def is_stack(leaf: Leaf) -> bool:
    """Whether a leaf is a stack of experts' matrices: (experts, rows, columns)."""
    return leaf.component == "experts" and len(leaf.shape) == STACKED and not leaf.linear and leaf.dtypes is None


def transposed(leaves: Iterable[Leaf]) -> frozenset[Segments]:
    """The blocks whose stacks are (experts, inputs, outputs), by the names of the blocks.

    A fused pair of (experts, a, b) has twice the rows or twice the columns that the way back has of the other.
    """
    shapes: dict[Segments, dict[str, tuple[int, ...]]] = {}
    for leaf in leaves:
        if is_stack(leaf):
            shapes.setdefault(leaf.segments[:-1], {})[str(leaf.segments[-1])] = leaf.shape
    return frozenset(
        block
        for block, stacks in shapes.items()
        if "gate_up_proj" in stacks
        and "down_proj" in stacks
        and stacks["gate_up_proj"][1] == stacks["down_proj"][2]
        and stacks["gate_up_proj"][2] == 2 * stacks["down_proj"][1]
    )


def matrix(leaf: Leaf, turned: bool) -> tuple[int, int]:
    """Outputs and inputs of a leaf's matrices; `turned` says that a stack is transposed.

    Packers store what transformers' Conv1D has as (inputs, outputs) like the weight of any other linear map. Source:
    transformers 5.23, integrations/bitsandbytes.py, Bnb4bitQuantize.convert and replace_with_bnb_linear.
    """
    rows, columns = leaf.shape[-2:]
    return (columns, rows) if leaf.turned or (turned and is_stack(leaf)) else (rows, columns)


def apart(leaves: Iterable[Leaf]) -> list[Leaf]:
    """The leaves with each stack of experts as one linear map an expert: `experts.0.gate_proj.weight`."""
    leaves = list(leaves)
    turned = transposed(leaves)
    result = []
    for leaf in leaves:
        biases = leaf.component == "experts" and str(leaf.segments[-1]).endswith("_proj_bias")
        if is_stack(leaf):
            outputs, inputs = matrix(leaf, leaf.segments[:-1] in turned)
            result += _experts(leaf, str(leaf.segments[-1]), "weight", (outputs, inputs))
        elif biases and len(leaf.shape) == STACKED - 1:
            result += _experts(leaf, str(leaf.segments[-1]).removesuffix("_bias"), "bias", (leaf.shape[1],))
        else:
            result.append(leaf)
    return result


def _experts(leaf: Leaf, name: str, last: str, shape: tuple[int, ...]) -> list[Leaf]:
    experts = leaf.shape[0]
    names = _FUSED.get(name, (name,))
    size = shape[0] // len(names), *shape[1:]
    return [
        leaf.replace(
            segments=(*leaf.segments[:-1], Indices.below(experts), projection, last),
            shape=size,
            count=leaf.count * experts,
            linear=last == "weight",
        )
        for projection in names
    ]


_ONE_TO_THREE = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}


def together(leaves: Iterable[Leaf], stack: Segments = ("switch_mlp",)) -> list[Leaf]:
    """The leaves with the experts of a layer as one stack, as mlx-lm names it: `switch_mlp.gate_proj.weight`."""
    result = []
    for leaf in apart(leaves):
        numbers = leaf.segments[-3] if len(leaf.segments) > STACKED else None
        if not (isinstance(numbers, Indices) and leaf.segments[-4] == "experts"):
            result.append(leaf)
            continue
        name = str(leaf.segments[-2])
        segments = (*leaf.segments[:-4], *stack, _ONE_TO_THREE.get(name, name), leaf.segments[-1])
        count = int(leaf.count) // int(numbers.count)
        result.append(leaf.replace(segments=segments, shape=(int(numbers.count), *leaf.shape), count=count))
    return result
