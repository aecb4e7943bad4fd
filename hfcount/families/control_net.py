"""ControlNet: a copy of a U-Net's way down that reads an image and steers the U-Net (arXiv:2302.05543)."""

from hfcount.components.conditions import Conditions
from hfcount.components.unet_keys import Stages
from hfcount.components.unet_stages import Halves
from hfcount.components.unets import read_stages
from hfcount.keys import denoising, diffusion
from hfcount.mapper import Config
from hfcount.parts.diffusion import conv
from hfcount.parts.diffusion_control import hint, outlets
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, block

# diffusers 0.42.1: controlnet.py, unet_2d_blocks.py, transformer_2d.py, attention.py
MODEL_TYPES = ("ControlNetModel",)


class ControlNet(Sizes):
    stages: Stages
    conditions: Conditions
    halves: Halves
    hints: tuple[int, ...]
    in_channels: int = size("C_i")
    conditioning_channels: int = size("C_h")


def spec(c: Config) -> Spec[ControlNet]:
    stages = read_stages(c, upward=False)
    first, memory = stages.down[0].width, stages.down[0].memory
    conditions = Conditions.of(c, first, memory, control=True)
    denoising.activation(c, "act_fn")
    hints = diffusion.stage_widths(c, "conditioning_embedding_out_channels", "H")
    halves = Halves.of(c, conditions.time)
    own = ControlNet.read(c, stages=stages, conditions=conditions, halves=halves, hints=hints)
    return diffusion.diffusing(c, own, stages.deepest)


def blueprint(s: Spec[ControlNet]) -> Block:
    of, stages, halves = s.own, s.own.stages, s.own.halves
    first, last = stages.down[0].width, stages.deepest
    beyond = [1] * (len(stages.down) - 1) + [0]
    outputs = [(one.width, one.layers + more) for one, more in zip(stages.down, beyond, strict=True)]
    return block(
        conv_in=conv(of.in_channels, first),
        **of.conditions.tensors(),
        controlnet_cond_embedding=hint(of.conditioning_channels, of.hints, first),
        down_blocks=halves.down(stages.down),
        mid_block=halves.middle(stages),
        controlnet_down_blocks=outlets(first, outputs),
        controlnet_mid_block=conv(last, last, 1),
    )
