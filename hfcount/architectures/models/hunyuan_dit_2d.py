"""Hunyuan-DiT: a transformer that denoises images, of which the second half also sees the first (arXiv:2405.08748).

Its ControlNet has the blocks of a part of the first half.
"""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    modulated,
    normed_attention,
    patches,
)
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# diffusers 0.42.1: hunyuan_transformer_2d.py, controlnet_hunyuan.py
MODEL_TYPES = ("HunyuanDiT2DModel", "HunyuanDiT2DControlNetModel")


class HunyuanDiT(Sizes):
    """Sizes specific to these architectures; `first` are the blocks that see the one before alone, `later` the others.

    `out_channels` is None for a ControlNet, which ends in a layer for each block.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    hidden_size: int = size("d")
    in_channels: int = size("C")
    patch_size: int = size("p", minimum=1)
    cross_attention_dim: int = size("d_c")
    cross_attention_dim_t5: int = size("d_t")
    pooled_projection_dim: int = size("d_p", minimum=0)
    text_len: int = size("n_c", minimum=0)
    text_len_t5: int = size("n_t", minimum=0)
    use_style_cond_and_image_meta_size: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    width: int
    first: Indices
    later: Indices
    out_channels: int | None


def spec(c: Config) -> Spec[HunyuanDiT]:
    d, control = c.int("num_attention_heads") * c.int("attention_head_dim"), "ControlNet" in c.family
    layers = keys.layer_count(c, "transformer_num_layers" if control else "num_layers")
    half = layers // 2
    if control:
        first, later, channels = Indices.below(max(half - 1, 0)), Indices.below(0), None
    else:
        start = min(half + 1, layers)
        first, later = Indices.span(0, start), Indices.span(start, layers)
        channels = c.int("in_channels") * (2 if c.bool("learn_sigma") else 1)
    sizes = HunyuanDiT.read(
        c, width=keys.dim("d_ff", c.times("mlp_ratio", d)), first=first, later=later, out_channels=channels
    )
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def blueprint(s: Spec[HunyuanDiT]) -> Block:
    d, of = s.hidden, s.own
    inner, channels = of.num_attention_heads * of.attention_head_dim, of.out_channels
    layer, square = _layer(of, inner), Linear(d, d, True, "projector")
    skipping = Block(
        {**layer.children, "skip_norm": layer_norm(2 * inner), "skip_linear": Linear(2 * inner, inner, True)}
    )
    text, memory = of.cross_attention_dim_t5, of.cross_attention_dim
    places = of.patch_size * of.patch_size
    return block(
        text_embedding_padding=Tensor((of.text_len + of.text_len_t5, memory), component="embedding"),
        text_embedder=time_embedding(text, 4 * text, memory),
        pos_embed=block("embedding", proj=patches(of.in_channels, d, of.patch_size, of.patch_size)),
        time_extra_emb=_conditions(of, d),
        blocks=(Repeat(of.first, layer), Repeat(of.later, skipping)),
        norm_out=None if channels is None else modulated(inner, 2 * inner),
        proj_out=None if channels is None else Linear(inner, places * channels, True),
        input_block=square if channels is None else None,
        controlnet_blocks=Repeat(of.first, square) if channels is None else None,
    )


def _layer(of: HunyuanDiT, d: int) -> Block:
    norm = layer_norm(of.attention_head_dim)
    return block(
        norm1=modulated(d, d, norm=layer_norm(d)),
        attn1=normed_attention(d, d, norm=norm),
        norm2=layer_norm(d),
        attn2=normed_attention(d, d, of.cross_attention_dim, norm=norm),
        norm3=layer_norm(d),
        ff=feed_forward(d, of.width, gated=of.gated),
    )


def _conditions(of: HunyuanDiT, d: int) -> Block:
    """What embeds a step, the text as one vector and, if asked, the size and the style of the image."""
    text, pooled = of.cross_attention_dim_t5, of.pooled_projection_dim or of.cross_attention_dim_t5
    linear, styled = Linear(text, text, True), of.use_style_cond_and_image_meta_size
    table = Tensor((of.text_len_t5 + 1, text))
    pooler = block(
        positional_embedding=table, k_proj=linear, q_proj=linear, v_proj=linear, c_proj=Linear(text, pooled, True)
    )
    beside = of.pooled_projection_dim + (6 * STEP_CHANNELS + d if styled else 0)
    return block(
        "embedding",
        timestep_embedder=time_embedding(STEP_CHANNELS, d),
        pooler=pooler,
        style_embedder=block(weight=Tensor((1, d))) if styled else None,
        extra_embedder=time_embedding(beside, 4 * d, d),
    )
