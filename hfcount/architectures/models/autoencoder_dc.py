"""The deep compression autoencoder of Sana, whose deeper levels have linear attention (arXiv:2410.10733)."""

from collections.abc import Sequence
from itertools import pairwise

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise
from hfcount.architectures.layers.diffusion.layers import numbered
from hfcount.architectures.layers.diffusion.transformers import gated_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("AutoencoderDC",)  # diffusers 0.42.1: autoencoder_dc.py

_KINDS, _NORMS = ("ResBlock", "EfficientViTBlock"), ("rms_norm", "layer_norm", "batch_norm")
_PLACES = 4
"""Places of an image that become one, or that one becomes."""


class Level(Record):
    """A level: its width, the number and kind of its blocks, their norm, and the kernels of its attention's scales."""

    width: int
    blocks: int
    attends: bool
    norm: str
    kernels: tuple[int, ...]


class DeepVae(Sizes):
    """Sizes of this architecture; `folded` is whether places are folded into channels, `unfolded` the way back."""

    in_channels: int = size("C")
    latent_channels: int = size("z")
    attention_head_dim: int = size("h_d")
    down: tuple[Level, ...]
    up: tuple[Level, ...]
    folded: bool
    unfolded: bool


def spec(c: Config) -> Spec[DeepVae]:
    down, up = _levels(c, "encoder", "d"), _levels(c, "decoder", "e")
    folded = c.str("downsample_block_type") == "pixel_unshuffle"
    diffusion.activation(c, "decoder_conv_act_fn")
    sizes = DeepVae.read(c, down=down, up=up, folded=folded, unfolded=c.str("upsample_block_type") != "interpolate")
    if folded:
        _check_folding(c, down)
    return diffusion.diffusing(c, sizes, down[-1].width)


def _levels(c: Config, side: str, letter: str) -> tuple[Level, ...]:
    """The levels of a side; those of which the config gives no number of blocks have none."""
    widths = diffusion.stage_widths(c, f"{side}_block_out_channels", letter)
    depths = c.ints(f"{side}_layers_per_block", least=1, minimum=0)[: len(widths)]
    if len(widths) == 1 and not depths[0]:
        raise c.error("list-length", f"{side}_layers_per_block names no block.", f"{side}_layers_per_block")
    kinds = _each(c, f"{side}_block_types", _KINDS, depths)
    norms = _each(c, "decoder_norm_types", _NORMS, depths) if side == "decoder" else ["rms_norm"] * len(depths)
    kernels = _kernels(c, f"{side}_qkv_multiscales", depths)
    levels = list[Level]()
    for place, width in enumerate(widths):
        blocks = keys.dim(f"{letter.upper()}{place}", depths[place]) if place < len(depths) else 0
        kind, norm, sides = (kinds[place], norms[place], kernels[place]) if blocks else ("", "", ())
        attends = kind == "EfficientViTBlock"
        levels.append(Level(width=width, blocks=blocks, attends=attends, norm=norm, kernels=sides))
    _check_heads(c, levels)
    return tuple(levels)


def _deepest(depths: Sequence[int]) -> int:
    """The levels up to the last that has blocks."""
    return max((place for place, depth in enumerate(depths, 1) if depth), default=0)


def _each(c: Config, key: str, known: Sequence[str], depths: Sequence[int]) -> list[str]:
    """A word for each level, or one for all."""
    if isinstance(c.value(key), str) or not c.given(key):
        return [c.choice(key, known)] * len(depths)
    words = diffusion.words(c, key, known)
    if len(words) < _deepest(depths):
        raise c.unequal(key, len(words), "the number of levels", len(depths))
    return words


def _kernels(c: Config, key: str, depths: Sequence[int]) -> list[tuple[int, ...]]:
    """The sides of the kernels of each level's scales."""
    kernels = c.entries(key)
    if any(
        not isinstance(entry, list) or any(type(side) is not int or side < 1 for side in entry) for entry in kernels
    ):
        raise c.error("list-length", f"{key} must list the kernels of each level, as whole numbers.", key)
    if len(kernels) < _deepest(depths):
        raise c.unequal(key, len(kernels), "the number of levels", len(depths))
    return [tuple(entry) for entry in kernels]


def _check_heads(c: Config, levels: Sequence[Level]) -> None:
    """Refuses heads that are wider than a level that attends at several scales: its kernels would have no group."""
    head = c.int("attention_head_dim", minimum=1)
    for level in levels:
        if level.attends and level.kernels and level.blocks and level.width < head:
            text = f"attention_head_dim is {int(head):,}, and a level that attends has {int(level.width):,} channels."
            raise c.error("out-of-range", text, "attention_head_dim", "Correct one of them.", observed=int(head))


def _check_folding(c: Config, levels: tuple[Level, ...]) -> None:
    """Refuses widths that places cannot be folded into."""
    folded = [later.width for level, later in pairwise(levels) if level.blocks]
    for width in [*folded, *([] if levels[0].blocks else [levels[1].width])]:
        if width % _PLACES:
            text = f"encoder_block_out_channels has {int(width):,}, which is not a multiple of {_PLACES}."
            raise c.error("not-divisible", text, "encoder_block_out_channels", "Correct it.", observed=int(width))


def blueprint(s: Spec[DeepVae]) -> Block:
    of, down, up = s.own, s.own.down, s.own.up
    first, last = _outermost(down), _outermost(up)
    taken = (
        conv(of.in_channels, first, 3, bias=True) if down[0].blocks else _resized(of.in_channels, _folded(of, first))
    )
    given = conv(last, of.in_channels, 3, bias=True) if up[0].blocks else _resized(last, _unfolded(of, of.in_channels))
    encoder = block(
        conv_in=taken,
        down_blocks=Block({str(place): _down(of, place) for place in range(len(down))}),
        conv_out=conv(down[-1].width, of.latent_channels, 3, bias=True),
    )
    decoder = block(
        conv_in=conv(of.latent_channels, up[-1].width, 3, bias=True),
        up_blocks=Block({str(place): _up(of, place) for place in range(len(up))}),
        norm_out=layer_norm(last),
        conv_out=given,
    )
    return block(encoder=encoder, decoder=decoder)


def _outermost(levels: tuple[Level, ...]) -> int:
    """The width next to the image: without blocks, the first level is none."""
    return levels[0].width if levels[0].blocks else levels[1].width


def _folded(of: DeepVae, width: int) -> int:
    return width // _PLACES if of.folded else width


def _unfolded(of: DeepVae, width: int) -> int:
    return _PLACES * width if of.unfolded else width


def _resized(inputs: int, outputs: int) -> Block:
    return block(conv=conv(inputs, outputs, 3, bias=True))


def _down(of: DeepVae, place: int) -> tuple[Node, ...]:
    level = of.down[place]
    blocks: Node = Repeat(Indices.below(level.blocks), _body(of, level))
    if place == len(of.down) - 1 or not level.blocks:
        return (blocks,)
    halved = _resized(level.width, _folded(of, of.down[place + 1].width))
    return blocks, Repeat(Indices.span(level.blocks, level.blocks + 1), halved)


def _up(of: DeepVae, place: int) -> tuple[Node, ...]:
    level = of.up[place]
    every = Indices.below(level.blocks)
    if place == len(of.up) - 1 or not level.blocks:
        return (Repeat(every, _body(of, level)),)
    doubled = _resized(of.up[place + 1].width, _unfolded(of, level.width))
    return Repeat(Indices.fixed(0), doubled), Repeat(every.shifted(1), _body(of, level))


def _body(of: DeepVae, level: Level) -> Block:
    d, norm = level.width, batch_norm(level.width) if level.norm == "batch_norm" else layer_norm(level.width)
    if not level.attends:
        return block(conv1=conv(d, d, 3, bias=True), conv2=conv(d, d, 3), norm=norm)
    network = gated_convolution(d, 4 * d)
    return block(
        attn=_attention(d, of.attention_head_dim, level.kernels, norm),
        conv_out=Block({**network.children, "norm": layer_norm(d)}, "mlp"),
    )


def _attention(d: int, head: int, kernels: tuple[int, ...], norm: Block) -> Block:
    """Linear attention at several scales: as it is, and mixed by each kernel."""
    inner = d // head * head
    mixed = [
        block(proj_in=depthwise(3 * inner, side), proj_out=block(weight=Tensor((3 * inner, head, 1, 1))))
        for side in kernels
    ]
    projection = Linear(d, inner)
    return block(
        "attention",
        to_q=projection,
        to_k=projection,
        to_v=projection,
        to_qkv_multiscale=numbered(mixed),
        to_out=Linear((1 + len(kernels)) * inner, d),
        norm_out=norm,
    )
