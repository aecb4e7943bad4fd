"""AuraFlow: a transformer that denoises images, in two streams and then in one, with tokens that it learns."""

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    joint_attention,
    modulated,
    normed_attention,
)
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("AuraFlowTransformer2DModel",)  # diffusers 0.42.1: auraflow_transformer_2d.py

_LEARNED, _MULTIPLE = 8, 256
"""Tokens that it learns, and what the width of its networks is a multiple of."""


class AuraFlow(Sizes):
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    joint_attention_dim: int = size("d_t")
    caption_projection_dim: int = size("d_p")
    patch_size: int = size("p", minimum=1)
    pos_embed_max_size: int = size("n_p")
    num_mmdit_layers: int = count("L_d")
    num_single_dit_layers: int = count("L_s")
    out_channels: int


def spec(c: Config) -> Spec[AuraFlow]:
    out = diffusion.nullable(c, "out_channels", "C_o")
    sizes = AuraFlow.read(c, out_channels=c.int("in_channels") if out is None else out)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[AuraFlow]) -> Block:
    d, of, places = s.hidden, s.own, s.own.patch_size * s.own.patch_size
    width = round_up(8 * d // 3, _MULTIPLE)
    network = block("mlp", linear_1=Linear(d, width), linear_2=Linear(d, width), out_projection=Linear(width, d))
    norm = modulated(d, 6 * d, False)
    both = block(norm1=norm, norm1_context=norm, attn=joint_attention(d, None, False), ff=network, ff_context=network)
    out = Block({"0": Linear(d, d)})
    single = block(norm1=norm, attn=normed_attention(d, d, bias=False, to_out=out), ff=network)
    table = Tensor((1, of.pos_embed_max_size, d))
    return block(
        register_tokens=Tensor((1, _LEARNED, d), component="embedding"),
        pos_embed=block("embedding", pos_embed=table, proj=Linear(places * of.in_channels, d, True)),
        context_embedder=Linear(of.joint_attention_dim, of.caption_projection_dim, component="embedding"),
        time_step_proj=time_embedding(STEP_CHANNELS, d),
        joint_transformer_blocks=Repeat(Indices.below(of.num_mmdit_layers), both),
        single_transformer_blocks=Repeat(Indices.below(of.num_single_dit_layers), single),
        norm_out=modulated(d, 2 * d, False),
        proj_out=Linear(d, places * of.out_channels),
    )
