"""The autoencoders of HunyuanVideo 1.5 and of HunyuanImage 2.1's refiner, which fold places into channels."""

from math import log2

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.video import causal, conv3d, level, residual_with
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

# diffusers 0.42.1: autoencoder_kl_hunyuanvideo15.py, autoencoder_kl_hunyuanimage_refiner.py
MODEL_TYPES = ("AutoencoderKLHunyuanVideo15", "AutoencoderKLHunyuanImageRefiner")


class Level(Record):
    """A level: its width, that of the next one if places are folded or unfolded in between, and how many become one."""

    width: int
    after: int | None
    places: int


class HunyuanVae(Sizes):
    """Its sizes: the levels of the encoder (`down`) and of the decoder (`up`), which begins at the end."""

    in_channels: int = size("C")
    out_channels: int = size("C_o")
    latent_channels: int = size("z")
    layers_per_block: int = count("N_r")
    down: tuple[Level, ...]
    up: tuple[Level, ...]


def spec(c: Config) -> Spec[HunyuanVae]:
    widths = diffusion.stage_widths(c)
    side, frames = (c.int(f"{name}_compression_ratio", minimum=1) for name in ("spatial", "temporal"))
    sides, times, late = log2(side), log2(frames), log2(side // frames) if side >= frames else 0
    folded = [8 if place >= late else 4 for place in range(len(widths))]
    unfolded = [8 if place < times else 4 for place in range(len(widths))]
    down = _levels(c, widths, sides, folded, "downsample_match_channel")
    up = _levels(c, widths[::-1], max(sides, times), unfolded, "upsample_match_channel")
    for stage in down if c.family == "AutoencoderKLHunyuanImageRefiner" else ():
        diffusion.check_parts(c, () if stage.after is None else (stage.after,), stage.places, "places that become one")
    return diffusion.diffusing(c, HunyuanVae.read(c, down=down, up=up), widths[-1])


def _levels(c: Config, widths: tuple[int, ...], sides: float, places: list[int], key: str) -> tuple[Level, ...]:
    """The levels, of which the first so many are folded, to the width of the next one if the `key` says so."""
    matched = c.bool(key)
    if matched and sides > len(widths) - 1:
        text = f"block_out_channels has {len(widths)} widths, too few for spatial_compression_ratio."
        raise c.error("list-length", text, "block_out_channels", "Correct one of them.", observed=len(widths))

    def after(place: int) -> int | None:
        return None if place >= sides else widths[place + 1] if matched else widths[place]

    return tuple(Level(width=width, after=after(place), places=places[place]) for place, width in enumerate(widths))


def blueprint(s: Spec[HunyuanVae]) -> Block:
    of = s.own
    deepest, first = of.down[-1].width, of.up[-1].width
    encoder = block(
        conv_in=causal(of.in_channels, first),
        down_blocks=Block(_stages(of.down, of.layers_per_block, folds=True)),
        mid_block=_middle(deepest),
        norm_out=_norm(deepest),
        conv_out=causal(deepest, 2 * of.latent_channels),
    )
    decoder = block(
        conv_in=causal(of.latent_channels, deepest),
        mid_block=_middle(deepest),
        up_blocks=Block(_stages(of.up, of.layers_per_block + 1, folds=False)),
        norm_out=_norm(first),
        conv_out=causal(first, of.out_channels),
    )
    return block(encoder=encoder, decoder=decoder)


def _stages(levels: tuple[Level, ...], blocks: int, folds: bool) -> dict[str, Node]:
    children, before = dict[str, Node](), levels[0].width
    for place, stage in enumerate(levels):
        resampled, name = None, "downsamplers" if folds else "upsamplers"
        if stage.after is not None:
            outputs = stage.after // stage.places if folds else stage.after * stage.places
            resampled = Block({"0": block(conv=causal(stage.width, outputs))})
        children[str(place)] = block(resnets=level(blocks, before, stage.width, _residual), **{name: resampled})
        before = stage.width if stage.after is None else stage.after
    return children


def _residual(inputs: int, outputs: int) -> Block:
    return residual_with(inputs, outputs, causal, _norm)


def _middle(width: int) -> Block:
    projection = conv3d(width, width, 1)
    attention = block(
        "attention", norm=_norm(width), to_q=projection, to_k=projection, to_v=projection, proj_out=projection
    )
    both = Repeat(Indices.fixed(0, 1), _residual(width, width))
    return block(attentions=Block({"0": attention}), resnets=both)


def _norm(width: int) -> Block:
    return block("norm", gamma=Tensor((width, 1, 1, 1)))
