"""The autoencoder of Würstchen and Stable Cascade, with a table of codes (arXiv:2211.07292)."""

from itertools import pairwise

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.convolution import batch_norm, depthwise, transposed
from hfcount.architectures.layers.convolution import conv as convolution
from hfcount.architectures.layers.diffusion.layers import conv
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# diffusers 0.42.1: modeling_paella_vq_model.py
MODEL_TYPES = ("PaellaVQModel",)

_LEVELS = 16
"""More halve any width to nothing."""


def _widths(c: Config) -> tuple[int, ...]:
    """The width of each level: that of the last, halved for each before it."""
    levels, last = c.int("levels", minimum=1), c.int("embed_dim")
    if levels > _LEVELS or last < 2 ** (levels - 1):
        text = f"levels is {int(levels):,}, and embed_dim, {int(last):,}, cannot be halved as often."
        raise c.error("out-of-range", text, "levels", "Correct one of them.", observed=int(levels))
    return tuple(Dim.named("d", last) if not back else last // 2**back for back in range(int(levels) - 1, -1, -1))


class Paella(Sizes):
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    up_down_scale_factor: int = size("f")
    bottleneck_blocks: int = count("L", minimum=0)
    latent_channels: int = size("z")
    num_vq_embeddings: int = size("n")
    widths: tuple[int, ...] = derived(_widths)


def spec(c: Config) -> Spec[Paella]:
    sizes = Paella.read(c)
    return diffusion.diffusing(c, sizes, sizes.widths[-1])


def blueprint(s: Spec[Paella]) -> Block:
    of, widths, latent = s.own, s.own.widths, s.own.latent_channels
    cells = of.up_down_scale_factor * of.up_down_scale_factor
    last = {"0": convolution(s.hidden, latent, 1), "1": batch_norm(latent)}
    down, place = dict[str, Node](), 0
    for before, d in zip((None, *widths), widths, strict=False):
        if before is not None:
            down[str(place)], place = convolution(before, d, 4, bias=True), place + 1
        down[str(place)], place = _mixing(d), place + 1
    codes = block("embedding", weight=Tensor((of.num_vq_embeddings, latent)))
    return block(
        in_block=Block({"1": conv(of.in_channels * cells, widths[0], 1)}),
        down_blocks=Block({**down, str(place): Block(dict(last))}),
        vquantizer=block(embedding=codes),
        up_blocks=_up(of),
        out_block=Block({"0": conv(widths[0], of.out_channels * cells, 1)}),
    )


def _up(of: Paella) -> Node:
    """The way back: the deepest level has as many blocks as a key says, and each other has one."""
    back, many = of.widths[::-1], of.bottleneck_blocks
    runs: list[Node] = [
        Repeat(Indices.fixed(0), Block({"0": conv(of.latent_channels, back[0], 1)})),
        Repeat(Indices(range(1, 1 + int(many)), many), _mixing(back[0])),
    ]
    place = 1 + int(many)
    for before, d in pairwise(back):
        runs.append(Repeat(Indices.of([place]), transposed(before, d, 4)))
        runs.append(Repeat(Indices.of([place + 1]), _mixing(d)))
        place += 2
    return tuple(runs)


def _mixing(d: int) -> Block:
    """A residual block whose norms are set by six numbers; numbers between stand for padding and activations."""
    return block(
        depthwise=Block({"1": depthwise(d, 3, bias=True)}),
        channelwise=Block({"0": Linear(d, 4 * d, True), "2": Linear(4 * d, d, True)}, "mlp"),
        gammas=Tensor((6,)),
    )
