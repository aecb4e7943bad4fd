"""The autoencoder of Mochi 1, whose encoder attends and whose decoder does not (Genmo, 2024)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.layers import attention
from hfcount.architectures.layers.diffusion.video import causal
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("AutoencoderKLMochi",)  # diffusers 0.42.1: autoencoder_kl_mochi.py

_GROUPS = 32


class MochiVae(Sizes):
    """Its sizes: the widths of both sides, by level how many blocks there are and whether the encoder attends.

    `frames` and `sides` are, between two levels, how many frames and how many places along a side become one. What
    the decoder does not share with the encoder, it counts from the end of these lists.
    """

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    down: tuple[int, ...]
    up: tuple[int, ...]
    blocks: tuple[int, ...]
    attends: tuple[bool, ...]
    frames: tuple[int, ...]
    sides: tuple[int, ...]


def spec(c: Config) -> Spec[MochiVae]:
    down = diffusion.stage_widths(c, "encoder_block_out_channels")
    up = diffusion.stage_widths(c, "decoder_block_out_channels", "D")
    blocks, attends = c.ints("layers_per_block", minimum=0), c.entries("add_attention_block")
    frames, sides = (_folded(c, f"{name}_expansions") for name in ("temporal", "spatial"))
    levels = max(len(down), len(up))
    for key, values, needed in (
        ("layers_per_block", blocks, levels),
        ("add_attention_block", attends, len(down)),
        ("temporal_expansions", frames, levels - 1),
        ("spatial_expansions", sides, levels - 1),
    ):
        if len(values) < needed:
            raise c.unequal(key, len(values), "the number that the widths ask for", needed)
    sizes = MochiVae.read(
        c,
        down=down,
        up=up,
        blocks=tuple(keys.dim(f"L{place}", block_) for place, block_ in enumerate(blocks, 1)),
        attends=tuple(map(bool, attends)),
        frames=tuple(keys.dim(f"t{place}", count) for place, count in enumerate(frames, 1)),
        sides=tuple(keys.dim(f"p{place}", side) for place, side in enumerate(sides, 1)),
    )
    for side in ("encoder", "decoder"):
        diffusion.check_parts(c, _normed(sizes, side), _GROUPS, "groups of a norm", f"{side}_block_out_channels")
    diffusion.activation(c, "act_fn")
    return diffusion.diffusing(c, sizes, down[-1])


def _folded(c: Config, key: str) -> list[int]:
    """How many frames, or places along a side, become one between two levels."""
    values = c.ints(key, minimum=0)
    if not all(values):
        c.cannot_run("out-of-range", f"{key} has a 0, and no patch is 0 wide.", key, "Correct it.", observed=0)
    return values


def _normed(of: MochiVae, side: str) -> list[int]:
    """The widths of a side that blocks with norms have, or the norm at its end."""
    if side == "encoder":
        values = [*zip(of.down, of.blocks, strict=False), (of.down[-1], 1)]
    else:
        inner = zip(of.up[:0:-1], of.blocks[-2::-1], strict=False)
        values = [(of.up[-1], of.blocks[-1]), (of.up[0], of.blocks[0]), *inner]
    return [width for width, several in values if several]


def blueprint(s: Spec[MochiVae]) -> Block:
    of, levels = s.own, len(s.own.down) - 1
    encoder = block(
        proj_in=Linear(of.in_channels, of.down[0], True, "embedding"),
        block_in=_blocks(of.down[0], of.blocks[0], of.attends[0]),
        down_blocks=Block({str(place): _down(of, place) for place in range(levels)}),
        block_out=_blocks(of.down[-1], of.blocks[-1], of.attends[-1]),
        norm_out=_norm(of.down[-1]),
        proj_out=Linear(of.down[-1], 2 * of.latent_channels),
    )
    decoder = block(
        conv_in=conv(of.latent_channels, of.up[-1], 1, 1, 1, bias=True),
        block_in=_blocks(of.up[-1], of.blocks[-1], False),
        up_blocks=Block({str(place): _up(of, place) for place in range(len(of.up) - 1)}),
        block_out=_blocks(of.up[0], of.blocks[0], False),
        proj_out=Linear(of.up[0], of.out_channels, True),
    )
    return block(encoder=encoder, decoder=decoder)


def _down(of: MochiVae, place: int) -> Block:
    width, side = of.down[place + 1], of.sides[place]
    folding = conv(of.down[place], width, of.frames[place], side, side, bias=True)
    return block(conv_in=block(conv=folding), **_blocks(width, of.blocks[place + 1], of.attends[place + 1]).children)


def _up(of: MochiVae, place: int) -> Block:
    inputs, outputs, side = of.up[-place - 1], of.up[-place - 2], of.sides[-place - 1]
    unfolding = Linear(inputs, outputs * of.frames[-place - 1] * side * side, True)
    return block(**_blocks(inputs, of.blocks[-place - 2], False).children, proj=unfolding)


def _blocks(width: int, several: int, attends: bool) -> Block:
    """So many residual blocks, each with attention and its norm if the level `attends`."""
    each, projection = Indices.below(several), causal(width, width)
    residual = block(norm1=_norm(width), conv1=projection, norm2=_norm(width), conv2=projection)
    attended: Node = Repeat(each, attention(width, width, bias=False))
    return block(
        resnets=Repeat(each, residual),
        norms=Repeat(each, _norm(width)) if attends else None,
        attentions=attended if attends else None,
    )


def _norm(width: int) -> Block:
    return block(norm_layer=layer_norm(width))
