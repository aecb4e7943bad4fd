"""The U-Net of ModelScope's text-to-video model: layers over frames behind each over places (arXiv:2308.06571)."""

from collections.abc import Mapping

from hfcount.architectures.components.unet_frames import (
    between,
    kinds,
    over_frames,
    stage,
    way_down,
    way_up,
)
from hfcount.architectures.components.unet_keys import Stage, Stages, each
from hfcount.architectures.components.unet_stages import around, text_layer
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import conv, residual, time_embedding
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, block

# diffusers 0.42.1: unet_3d_condition.py, unet_3d_blocks.py, resnet.py, transformer_temporal.py
MODEL_TYPES = ("UNet3DConditionModel",)

_HEADS = 8
"""Those of what is before all stages."""


class UNet3D(Sizes):
    """What it has beside `stages`; `condition` is the width of what is added to a step."""

    stages: Stages
    condition: int | None
    attention_head_dim: int
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")


def spec(c: Config) -> Spec[UNet3D]:
    widths = diffusion.stage_widths(c)
    diffusion.check_groups(c, widths)
    diffusion.activation(c, "act_fn")
    down, up = kinds(c, "3D", widths)
    if c.given("num_attention_heads"):
        text = "num_attention_heads is given, which diffusers refuses: attention_head_dim gives the width of a head."
        raise c.error("contradiction", text, "num_attention_heads", "Set it to null.")
    if isinstance(c.value("attention_head_dim"), list):
        text = "attention_head_dim is a list, and what is before all stages needs one number."
        raise c.error("contradiction", text, "attention_head_dim")
    (wide, *_), layers = each(c, "attention_head_dim", "h_d", 1), c.int("layers_per_block")
    memory = c.int("cross_attention_dim")
    for width in widths:
        if wide > width:
            text = f"attention_head_dim gives {int(wide):,} to a head of a stage that is {int(width):,} wide."
            c.cannot_run("out-of-range", text, "attention_head_dim", observed=int(wide))
    way = [stage(kind, width, layers, width // wide, memory) for kind, width in zip(down, widths, strict=True)]
    back = [stage(kind, width, layers, width // wide, memory) for kind, width in zip(up, widths[::-1], strict=True)]
    stages = Stages(down=tuple(way), middle=way[-1].replace(kind=way[-1].kind._replace(attends="text")), up=tuple(back))
    sizes = UNet3D.read(
        c,
        stages=stages,
        condition=diffusion.nullable(c, "time_cond_proj_dim", "d_g"),
        attention_head_dim=wide,
    )
    return diffusion.diffusing(c, sizes, stages.deepest)


def blueprint(s: Spec[UNet3D]) -> Block:
    of, stages, wide = s.own, s.own.stages, s.own.attention_head_dim
    first = stages.down[0].width
    time = 4 * first
    assert stages.middle is not None

    def body(inputs: int, outputs: int) -> Block:
        return residual(inputs, outputs, time)

    def beside(stage: Stage, count: int) -> Mapping[str, Node | None]:
        return _stage(stage, count, count, wide)

    def beside_middle(stage: Stage, count: int) -> Mapping[str, Node | None]:
        return _stage(stage, count + 1, count, wide)

    return block(
        conv_in=conv(of.in_channels, first),
        time_embedding=time_embedding(first, time, condition=of.condition),
        transformer_in=_over_frames(first, _HEADS * wide),
        down_blocks=way_down(stages.down, body, beside),
        mid_block=between(stages.middle, body, beside_middle),
        up_blocks=way_up(stages.up, body, beside),
        conv_norm_out=layer_norm(first),
        conv_out=conv(first, of.out_channels),
    )


def _stage(stage: Stage, convolved: int, count: int, wide: int) -> Mapping[str, Node | None]:
    """What a stage has beside residual blocks: convolutions over frames, and two kinds of transformers."""
    d, inner = stage.width, stage.heads * wide
    children: dict[str, Node | None] = {"temp_convs": Repeat(Indices.below(convolved), _convolved(d))}
    if stage.kind.attends:
        layer = Repeat(Indices.below(1), text_layer(inner, stage.memory))
        children["attentions"] = Repeat(Indices.below(count), around(d, inner, layer))
        children["temp_attentions"] = Repeat(Indices.below(count), _over_frames(d, inner))
    return children


def _over_frames(d: int, inner: int) -> Block:
    """A transformer over frames, which attends to nothing else."""
    return around(d, inner, Repeat(Indices.below(1), text_layer(inner, None)))


def _convolved(d: int) -> Block:
    """Four convolutions over frames; numbers between stand for activations and what drops some."""
    norm, convolution = layer_norm(d), over_frames(d, d)
    later = Block({"0": norm, "3": convolution})
    return block(conv1=Block({"0": norm, "2": convolution}), conv2=later, conv3=later, conv4=later)
