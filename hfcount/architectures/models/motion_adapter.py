"""AnimateDiff's motion adapter: what makes a U-Net of images one of videos, apart from it (arXiv:2307.04725)."""

from hfcount.architectures.components.motion import Motion, check_motion
from hfcount.architectures.components.unet_keys import depths, each
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv, numbered
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# diffusers 0.42.1: unet_motion_model.py, attention.py
MODEL_TYPES = ("MotionAdapter",)


class MotionAdapter(Sizes):
    """What it has: of each stage the modules and their number, and the channels of an image that it reads itself."""

    stages: tuple[tuple[Motion, int], ...]
    middle: tuple[Motion, int] | None
    image: int | None


def spec(c: Config) -> Spec[MotionAdapter]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths, "motion_norm_num_groups")
    count, frames = len(widths), c.int("motion_max_seq_length")
    layers = each(c, "motion_layers_per_block", "L", count)
    heads = each(c, "motion_num_attention_heads", "h", count)
    check_motion(c, widths, heads)
    key = "motion_transformer_layers_per_block"
    deep = depths(c, key, count)
    if any(depth.listed for depth in deep):
        text = f"{key} has a list of lists, and a stage has one module less on the way down than on the way up."
        raise c.error("contradiction", text, key, "Give a number for each stage.")
    made = [
        (Motion(width=width, heads=head_count, frames=frames, depths=depth.each), many)
        for width, head_count, depth, many in zip(widths, heads, deep, layers, strict=False)
    ]
    sizes = MotionAdapter.read(
        c,
        stages=tuple(made),
        middle=_middle(c, made[-1][0]),
        image=diffusion.nullable(c, "conv_in_channels", "C_i") or None,
    )
    return diffusion.diffusing(c, sizes, widths[-1])


def _middle(c: Config, last: Motion) -> tuple[Motion, int] | None:
    """The modules of the middle, and their number."""
    key = "motion_transformer_layers_per_mid_block"
    count = c.int("motion_mid_block_layers_per_block")
    listed = not (c.is_int(key) or not c.given(key))
    deep = tuple(c.ints(key, minimum=0)) if listed else depths(c, key, 1, "T_m")[0].each
    if listed and len(deep) != count:
        raise c.unequal(key, len(deep), "motion_mid_block_layers_per_block", count)
    return (last.replace(depths=deep), count) if c.bool("use_motion_mid_block") else None


def blueprint(s: Spec[MotionAdapter]) -> Block:
    of = s.own
    return block(
        conv_in=None if of.image is None else conv(of.image, of.stages[0][0].width),
        down_blocks=numbered([block(motion_modules=stage.modules(count)) for stage, count in of.stages]),
        up_blocks=numbered([block(motion_modules=stage.modules(count + 1)) for stage, count in of.stages[::-1]]),
        mid_block=block(motion_modules=of.middle[0].modules(of.middle[1])) if of.middle else None,
    )
