"""ControlNets of a U-Net: a copy of its down blocks that reads a control image (arXiv:2302.05543)."""

from hfcount.architectures.components.conditions import Conditions
from hfcount.architectures.components.unet_keys import Stages
from hfcount.architectures.components.unet_stages import Halves
from hfcount.architectures.components.unets import read_stages
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv, hint, outlets
from hfcount.mapper import Config, Sizes, size
from hfcount.spec.tree.nodes import Block, Node, block


class Control(Sizes):
    """The sizes that all ControlNets share; `hints` are the widths of the convolutions over the image."""

    stages: Stages
    conditions: Conditions
    halves: Halves
    hints: tuple[int, ...]
    in_channels: int = size("C_i")
    conditioning_channels: int = size("C_h")

    @staticmethod
    def of(c: Config, middle: bool = True) -> "Control":
        """Reads all sizes; without `middle` the class has one kind of middle block, and no key names it."""
        stages = read_stages(c, upward=False, middle=middle)
        conditions = Conditions.of(c, stages.down[0].width, stages.down[0].memory, control=True)
        diffusion.activation(c, "act_fn")
        hints = diffusion.stage_widths(c, "conditioning_embedding_out_channels", "H")
        halves = Halves.of(c, conditions.time)
        return Control.read(c, stages=stages, conditions=conditions, halves=halves, hints=hints)

    def tensors(self, **more: Node | None) -> Block:
        """The way down, a convolution behind each of its outputs, and what one class has besides."""
        stages, first, last = self.stages, self.stages.down[0].width, self.stages.deepest
        beyond = [1] * (len(stages.down) - 1) + [0]
        outputs = [(stage.width, stage.layers + more) for stage, more in zip(stages.down, beyond, strict=True)]
        entrance: dict[str, Node | None] = {
            "conv_in": conv(self.in_channels, first),
            **self.conditions.tensors(),
            "controlnet_cond_embedding": hint(self.conditioning_channels, self.hints, first),
        }
        return block(
            **entrance | more,
            down_blocks=self.halves.down(stages.down),
            mid_block=self.halves.middle(stages),
            controlnet_down_blocks=outlets(first, outputs),
            controlnet_mid_block=conv(last, last, 1),
        )
