"""The U-Net of Stable Video Diffusion, which mixes what it makes of places and of frames (arXiv:2311.15127)."""

from collections.abc import Mapping

from hfcount.architectures.components.unet_frames import between, mixed, read_stages, way_down, way_up
from hfcount.architectures.components.unet_keys import Stage, Stages
from hfcount.architectures.components.unet_stages import around, text_layer
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import (
    attention,
    conv,
    feed_forward,
    numbered,
    time_embedding,
)
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Node, Repeat, Tensor, block

# diffusers 0.42.1: unet_spatio_temporal_condition.py, unet_3d_blocks.py, transformer_temporal.py, attention.py
MODEL_TYPES = ("UNetSpatioTemporalConditionModel",)


class UNetSpatioTemporal(Sizes):
    stages: Stages
    in_channels: int = size("C_i")
    out_channels: int = size("C_o")
    projection_class_embeddings_input_dim: int = size("d_p")


def spec(c: Config) -> Spec[UNetSpatioTemporal]:
    stages = read_stages(c, "SpatioTemporal", "num_attention_heads")
    diffusion.check_parts(c, (stage.width for stage in stages.down), 32, "groups of a norm")
    return diffusion.diffusing(c, UNetSpatioTemporal.read(c, stages=stages), stages.deepest)


def _transformer(stage: Stage, depth: int) -> Block:
    """A transformer over places, and one over frames."""
    d, inner = stage.width, stage.heads * (stage.width // stage.heads)
    feed = feed_forward(inner, 4 * inner, gated=True)
    frames = block(
        norm_in=layer_norm(inner),
        ff_in=feed,
        norm1=layer_norm(inner),
        attn1=attention(inner, inner, bias=False),
        norm2=layer_norm(inner),
        attn2=attention(inner, inner, stage.memory, bias=False),
        norm3=layer_norm(inner),
        ff=feed,
    )
    places = Indices.below(depth)
    return around(
        d,
        inner,
        Repeat(places, text_layer(inner, stage.memory)),
        temporal_transformer_blocks=Repeat(places, frames),
        time_pos_embed=time_embedding(d, 4 * d, d),
        time_mixer=block(mix_factor=Tensor((1,))),
    )


def _attentions(stage: Stage, count: int) -> Mapping[str, Node | None]:
    if not stage.kind.attends:
        return {}
    if len(stage.depths) == 1:
        return {"attentions": Repeat(Indices.below(count), _transformer(stage, stage.depths[0]))}
    return {"attentions": numbered([_transformer(stage, depth) for depth in stage.depths[: int(count)]])}


def blueprint(s: Spec[UNetSpatioTemporal]) -> Block:
    of, stages = s.own, s.own.stages
    first = stages.down[0].width
    time = 4 * first
    assert stages.middle is not None

    def body(inputs: int, outputs: int) -> Block:
        return mixed(inputs, outputs, time)

    return block(
        conv_in=conv(of.in_channels, first),
        time_embedding=time_embedding(first, time),
        add_embedding=time_embedding(of.projection_class_embeddings_input_dim, time),
        down_blocks=way_down(stages.down, body, _attentions),
        mid_block=between(stages.middle, body, _attentions),
        up_blocks=way_up(stages.up, body, _attentions),
        conv_norm_out=layer_norm(first),
        conv_out=conv(first, of.out_channels),
    )
