"""The autoencoders of Wan and Qwen-Image, which see videos frame after frame (arXiv:2503.20314)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.video import conv3d, level, residual_with
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

# diffusers 0.42.1: autoencoder_kl_wan.py, autoencoder_kl_qwenimage.py
MODEL_TYPES = ("AutoencoderKLWan", "AutoencoderKLQwenImage")


class Level(Record):
    """A level: its width in the encoder and in the decoder, whether it attends, and what halves after it.

    `frames` says that the encoder also halves the frames, `later_frames` that the decoder doubles them at the level of
    the same number, counted from the other end.
    """

    width: int
    decoder_width: int
    attends: bool
    frames: bool
    later_frames: bool


class WanVae(Sizes):
    """Sizes specific to these architectures; `residual` is whether each level has a shortcut around it."""

    z_dim: int = size("z")
    num_res_blocks: int = count("N_r")
    base_dim: int = size("d_0")
    in_channels: int
    out_channels: int
    residual: bool
    levels: tuple[Level, ...]


def spec(c: Config) -> Spec[WanVae]:
    wan = c.family == "AutoencoderKLWan"
    residual = c.bool("is_residual") if wan else False
    inputs = keys.dim("C", c.int("in_channels" if wan else "input_channels"))
    outputs = keys.dim("C_o", c.int("out_channels")) if wan else inputs
    levels = _levels(c, residual, diffusion.nullable(c, "decoder_base_dim", "e_0") if wan else None)
    sizes = WanVae.read(c, in_channels=inputs, out_channels=outputs, residual=residual, levels=levels)
    if residual:
        _check_shortcuts(c, sizes)
    return diffusion.diffusing(c, sizes, levels[-1].width)


def _levels(c: Config, residual: bool, decoder_base: int | None) -> tuple[Level, ...]:
    base, factors = c.int("base_dim"), c.ints("dim_mult", least=1, minimum=1)
    halved, ends = c.entries("temperal_downsample"), len(factors) - 1
    if len(halved) < ends:
        raise c.unequal("temperal_downsample", len(halved), "the number of levels but the last", ends)
    scales = [] if residual else c.entries("attn_scales")
    return tuple(
        Level(
            width=keys.dim(f"d{place + 1}", base * factor),
            decoder_width=keys.dim(f"e{place + 1}", (decoder_base or base) * factor),
            attends=0.5**place in scales,
            frames=place < ends and bool(halved[place]),
            later_frames=place < ends and bool(halved[-1 - place]),
        )
        for place, factor in enumerate(factors)
    )


def _check_shortcuts(c: Config, sizes: WanVae) -> None:
    """Refuses widths between which no shortcut leads: it averages, or repeats, a whole number of channels."""
    ends = len(sizes.levels) - 1
    for place, stage in enumerate(sizes.levels):
        before = sizes.levels[place - 1].width if place else sizes.base_dim
        if before * (1 if place == ends else 8 if stage.frames else 4) % stage.width:
            raise _uneven(c, before, stage.width)
    up = [level.decoder_width for level in reversed(sizes.levels)]
    for place, stage in enumerate(sizes.levels[:-1]):
        before, width = up[max(0, place - 1)], up[place]
        if width * (8 if stage.later_frames else 4) % before:
            raise _uneven(c, before, width)


def _uneven(c: Config, before: int, width: int) -> Exception:
    text = f"dim_mult gives levels of {int(before):,} and {int(width):,} channels, and no shortcut leads from one to"
    return c.error("not-divisible", f"{text} the other.", "dim_mult", "Correct it.", observed=int(width))


def blueprint(s: Spec[WanVae]) -> Block:
    of = s.own
    widths, up = [level.width for level in of.levels], [level.decoder_width for level in reversed(of.levels)]
    encoder = block(
        conv_in=conv3d(of.in_channels, of.base_dim),
        down_blocks=Block(_shortcut_levels(of, widths)) if of.residual else tuple(_flat_levels(of, widths)),
        mid_block=_middle(widths[-1]),
        norm_out=_norm(widths[-1], 3),
        conv_out=conv3d(widths[-1], 2 * of.z_dim),
    )
    decoder = block(
        conv_in=conv3d(of.z_dim, up[0]),
        mid_block=_middle(up[0]),
        up_blocks=Block({str(place): _up(of, place, up) for place in range(len(up))}),
        norm_out=_norm(up[-1], 3),
        conv_out=conv3d(up[-1], of.out_channels),
    )
    double = 2 * of.z_dim
    return block(
        encoder=encoder,
        quant_conv=conv3d(double, double, 1),
        post_quant_conv=conv3d(of.z_dim, of.z_dim, 1),
        decoder=decoder,
    )


def _flat_levels(of: WanVae, widths: list[int]) -> list[Node]:
    """The encoder's blocks, numbered through: those of a stage, each with its attention, and what halves after them."""
    nodes, start, before, blocks = list[Node](), 0, of.base_dim, of.num_res_blocks
    for place, (stage, width) in enumerate(zip(of.levels, widths, strict=True)):
        step = 2 if stage.attends else 1
        stop = start + step * blocks
        later = _residual(width, width)
        nodes.append(Repeat(Indices.span(start, min(stop, start + 1)), _residual(before, width)))
        nodes.append(Repeat(Indices.span(start + step, max(stop, start + step), step), later))
        if stage.attends:
            nodes.append(Repeat(Indices.span(start + 1, max(stop, start + 1), 2), _attention(width)))
        if place < len(widths) - 1:
            nodes.append(Repeat(Indices.span(stop, stop + 1), _resized(width, width, stage.frames)))
            stop = stop + 1
        start, before = stop, width
    return nodes


def _shortcut_levels(of: WanVae, widths: list[int]) -> dict[str, Node]:
    children, before = dict[str, Node](), of.base_dim
    for place, (stage, width) in enumerate(zip(of.levels, widths, strict=True)):
        halved = _resized(width, width, stage.frames) if place < len(widths) - 1 else None
        children[str(place)] = block(resnets=level(of.num_res_blocks, before, width, _residual), downsampler=halved)
        before = width
    return children


def _up(of: WanVae, place: int, widths: list[int]) -> Block:
    """A level of the decoder, which begins with the deepest."""
    width, last = widths[place], place == len(widths) - 1
    given = widths[place - 1] if of.residual else widths[place - 1] // 2  # what the level before gives
    resnets = level(of.num_res_blocks + 1, given if place else widths[0], width, _residual)
    if last:
        return block(resnets=resnets)
    doubled = _resized(width, width if of.residual else width // 2, of.levels[place].later_frames, 2 * width)
    if of.residual:
        return block(resnets=resnets, upsampler=doubled)
    return block(resnets=resnets, upsamplers=Block({"0": doubled}))


def _resized(width: int, outputs: int, frames: bool, along: int | None = None) -> Block:
    """What halves or doubles the sides, and with `frames` their number, by a convolution to `along` channels."""
    time = conv(width, width if along is None else along, 3, 1, 1, bias=True)
    return block(resample=Block({"1": conv(width, outputs, 3, bias=True)}), time_conv=time if frames else None)


def _residual(inputs: int, outputs: int) -> Block:
    return residual_with(inputs, outputs, conv3d, lambda width: _norm(width, 3))


def _attention(width: int) -> Block:
    joined, out = conv(width, 3 * width, 1, bias=True), conv(width, width, 1, bias=True)
    return block("attention", norm=_norm(width, 2), to_qkv=joined, proj=out)


def _middle(width: int) -> Block:
    both = Repeat(Indices.fixed(0, 1), _residual(width, width))
    return block(attentions=Block({"0": _attention(width)}), resnets=both)


def _norm(width: int, dimensions: int) -> Block:
    return block("norm", gamma=Tensor((width, *(1,) * dimensions)))
