"""The U-Net of Stable Diffusion 1, 2 and XL, and of many others: it attends to text (arXiv:2112.10752)."""

from hfcount.architectures.components.conditions import Conditions, boxes
from hfcount.architectures.components.unet_keys import Stages
from hfcount.architectures.components.unet_stages import GATED, Halves
from hfcount.architectures.components.unets import read_stages
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# diffusers 0.42.1: unet_2d_condition.py, unet_2d_blocks.py, transformer_2d.py, attention.py
MODEL_TYPES = ("UNet2DConditionModel",)


class UNet2DCondition(Sizes):
    stages: Stages
    conditions: Conditions
    halves: Halves
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    conv_in_kernel: int = size("k_i")
    conv_out_kernel: int = size("k_o")
    normed: bool = derived(lambda c: not c.is_null("norm_num_groups"))
    gated: str = derived(lambda c: c.str("attention_type"))


def spec(c: Config) -> Spec[UNet2DCondition]:
    stages = read_stages(c)
    diffusion.activation(c, "act_fn")
    for key in ("timestep_post_act", "time_embedding_act_fn"):
        diffusion.activation(c, key, absent=True)
    first, memory = stages.down[0].width, stages.down[0].memory
    conditions = Conditions.of(c, first, memory)
    sizes = UNet2DCondition.read(c, stages=stages, conditions=conditions, halves=Halves.of(c, conditions.time))
    return diffusion.diffusing(c, sizes, stages.deepest)


def blueprint(s: Spec[UNet2DCondition]) -> Block:
    of, halves = s.own, s.own.halves
    first = of.stages.down[0].width
    return block(
        conv_in=conv(of.in_channels, first, of.conv_in_kernel),
        **of.conditions.tensors(),
        down_blocks=halves.down(of.stages.down),
        mid_block=halves.middle(of.stages),
        up_blocks=halves.up(of.stages.up),
        conv_norm_out=layer_norm(first) if of.normed else None,
        conv_out=conv(first, of.out_channels, of.conv_out_kernel),
        position_net=boxes(of.conditions.memory, of.gated) if of.gated in GATED else None,
    )
