"""The upsamplers of LTX-Video and LTX-2, which make latents larger or longer between two passes."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.video import conv3d
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block, buffer
from hfcount.text import shown

# diffusers 0.42.1: modeling_latent_upsampler.py, latent_upsampler.py
MODEL_TYPES = ("LTXLatentUpsamplerModel", "LTX2LatentUpsamplerModel")

_GROUPS, _BLUR = 32, 5
_SCALES = {0.75: 3, 1.5: 3, 2.0: 2, 4.0: 4}
"""How many places one becomes, before some are left out, by the scales that LTX-2 knows."""


class LtxUpsampler(Sizes):
    """Its sizes; `planes` is whether convolutions see one frame, `times` how many places one becomes.

    `across` is whether what parts them sees one frame, `blurred` whether places are left out behind it.
    """

    in_channels: int = size("C")
    mid_channels: int = size("d")
    num_blocks_per_stage: int = count("L")
    planes: bool
    times: int
    across: bool
    blurred: bool


def spec(c: Config) -> Spec[LtxUpsampler]:
    larger, longer = c.bool("spatial_upsample"), c.bool("temporal_upsample")
    if not (larger or longer):
        text = "spatial_upsample and temporal_upsample are false: nothing is made larger."
        raise c.error("contradiction", text, "spatial_upsample", "Write true for one of them.")
    second = c.family == "LTX2LatentUpsamplerModel" and larger and not longer and c.bool("use_rational_resampler")
    times = (4 if larger else 1) * (2 if longer else 1)
    if second:
        scale = c.number("rational_spatial_scale")
        if scale not in _SCALES:
            text = f"rational_spatial_scale is {shown(scale)}, but must be {', '.join(map(str, _SCALES))}."
            raise c.error("out-of-range", text, "rational_spatial_scale", "Correct it.", observed=scale)
        times = _SCALES[scale] ** 2
    sizes = LtxUpsampler.read(c, planes=c.int("dims", minimum=0) == 2, times=times, across=not longer, blurred=second)
    diffusion.check_parts(c, (sizes.mid_channels,), _GROUPS, "groups of a norm", "mid_channels")
    return diffusion.diffusing(c, sizes, sizes.mid_channels)


def blueprint(s: Spec[LtxUpsampler]) -> Block:
    d, of = s.hidden, s.own
    each = Indices.below(of.num_blocks_per_stage)
    square, norm = _conv(d, d, of.planes), layer_norm(d)
    stage = Repeat(each, block(conv1=square, norm1=norm, conv2=square, norm2=norm))
    wider = _conv(d, of.times * d, of.across)
    blur = block(kernel=buffer(1, 1, _BLUR, _BLUR))
    return block(
        initial_conv=_conv(of.in_channels, d, of.planes),
        initial_norm=norm,
        res_blocks=stage,
        upsampler=block(conv=wider, blur_down=blur) if of.blurred else Block({"0": wider}),
        post_upsample_res_blocks=stage,
        final_conv=_conv(d, of.in_channels, of.planes),
    )


def _conv(inputs: int, outputs: int, plane: bool) -> Block:
    """A convolution over the places of a frame, or over frames too."""
    return conv(inputs, outputs, 3, bias=True) if plane else conv3d(inputs, outputs)
