"""Parts of models that match two images place by place (arXiv:2403.04765)."""

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from hfcount.parts.convolution import batch_norm, conv, normed
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, block


def repvgg(of: Mapping[str, int]) -> Block:
    """RepVGG by the traits of keys.repvgg (arXiv:2101.03697).

    Tensors under stages, blocks: conv1 (out, in, 3, 3) and conv2 (out, in, 1, 1) with norms, identity, a norm.
    """

    def run(stage: int, place: int, start: int) -> Repeat:
        many, into, out, plain = (of[f"{name}.{stage}.{place}"] for name in ("many", "inputs", "outputs", "plain"))
        wide, narrow = (normed(into, out, side, names=("conv", "norm")) for side in (3, 1))
        one = block(conv1=wide, conv2=narrow, identity=batch_norm(into) if plain else None)
        return Repeat(Indices(range(start, start + int(many)), many), one)

    stages = dict[str, Block]()
    for stage in range(of["stages"]):
        places = range(of[f"runs.{stage}"])
        starts = accumulate((int(of[f"many.{stage}.{place}"]) for place in places), initial=0)
        stages[str(stage)] = block(blocks=tuple(run(stage, *one) for one in zip(places, starts, strict=False)))
    return block(stages=Block(stages))


def refinement(widths: Sequence[int]) -> Block:
    """Features joined from coarse to fine, through these widths.

    Tensors: out_conv (C1, C1, 1, 1), and out_conv_layers, each out_conv1, out_conv2, batch_norm and out_conv3.
    """

    def finer(out: int, into: int) -> Block:
        return block(
            out_conv1=conv(into, out, 1),
            out_conv2=conv(out, out, 3),
            batch_norm=batch_norm(out),
            out_conv3=conv(out, into, 3),
        )

    steps = {str(place): finer(*sides) for place, sides in enumerate(pairwise(widths))}
    return block(out_conv=conv(widths[0], widths[0], 1), out_conv_layers=Block(steps))
