"""ControlNet++: one ControlNet for images of many kinds, which it tells apart by an embedding (xinsir, 2024)."""

from hfcount.architectures.components.control import Control
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# diffusers 0.42.1: controlnet_union.py, unet_2d_blocks.py, transformer_2d.py, attention.py
MODEL_TYPES = ("ControlNetUnionModel",)


class ControlNetUnion(Sizes):
    control: Control
    num_control_type: int = size("n_k")
    num_trans_channel: int = size("d_k")
    num_trans_head: int = size("h_k")
    num_trans_layer: int = count("L_k", minimum=0)
    num_proj_channel: int = size("d_j")
    addition_time_embed_dim: int = size("d_a")


def spec(c: Config) -> Spec[ControlNetUnion]:
    if not c.is_null("encoder_hid_dim_type"):
        text = "encoder_hid_dim_type is given, and this class takes none."
        raise c.error("contradiction", text, "encoder_hid_dim_type", "Set it to null.")
    sizes = ControlNetUnion.read(c, control=Control.of(c, middle=False))
    if sizes.num_trans_channel % sizes.num_trans_head:
        heads = sizes.num_trans_head
        text = f"num_trans_channel is {sizes.num_trans_channel:,}, no multiple of num_trans_head, {heads:,}."
        raise c.error("not-divisible", text, "num_trans_channel", "Correct one of them.")
    return diffusion.diffusing(c, sizes, sizes.control.stages.deepest)


def blueprint(s: Spec[ControlNetUnion]) -> Block:
    of, d, time = s.own, s.own.num_trans_channel, s.own.control.conditions.time
    return of.control.tensors(
        encoder_hid_proj=None,
        task_embedding=Tensor((of.num_control_type, d), component="embedding"),
        transformer_layes=Repeat(Indices.below(of.num_trans_layer), _layer(d)),
        spatial_ch_projs=Linear(d, of.num_proj_channel, True, "projector"),
        control_add_embedding=time_embedding(of.addition_time_embed_dim * of.num_control_type, time),
    )


def _layer(d: int) -> Block:
    """A layer over the images that steer, one place each."""
    fused: dict[str, Node] = {
        "in_proj_weight": Tensor((3 * d, d)),
        "in_proj_bias": Tensor((3 * d,)),
        "out_proj": Linear(d, d, True),
    }
    return block(
        attn=Block(fused, "attention"),
        ln_1=layer_norm(d),
        mlp=block("mlp", c_fc=Linear(d, 4 * d, True), c_proj=Linear(4 * d, d, True)),
        ln_2=layer_norm(d),
    )
