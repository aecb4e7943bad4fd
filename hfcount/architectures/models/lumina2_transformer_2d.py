"""Lumina-Image 2: it denoises an image and a text as one sequence, each refined before (arXiv:2503.21758)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS, modulated, normed_attention
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("Lumina2Transformer2DModel",)  # diffusers 0.42.1: transformer_lumina2.py

_MOST = 1024
"""The most channels of what modulates a layer."""


class Lumina2(Sizes):
    hidden_size: int = size("d")
    num_attention_heads: int = size("h", minimum=1)
    num_kv_heads: int = size("h_kv")
    in_channels: int = size("C")
    cap_feat_dim: int = size("d_t")
    patch_size: int = size("p")
    num_layers: int = count("L")
    num_refiner_layers: int = count("L_r")
    out_channels: int
    width: int


def spec(c: Config) -> Spec[Lumina2]:
    wide = 4 * c.int("hidden_size")
    wide = wide if c.is_null("ffn_dim_multiplier") else c.times("ffn_dim_multiplier", wide)
    width = keys.dim("d_ff", round_up(wide, c.int("multiple_of", minimum=1)))
    sizes = Lumina2.read(c, out_channels=diffusion.or_else(c, "out_channels", c.int("in_channels"), "C_o"), width=width)
    if sizes.hidden_size < sizes.num_attention_heads:
        text = f"hidden_size is {int(sizes.hidden_size):,}, less than num_attention_heads: heads would have no width."
        raise c.error("out-of-range", text, "hidden_size", "Correct it.", observed=int(sizes.hidden_size))
    for axis, _ in zip(c.ints("axes_dim_rope"), c.ints("axes_lens"), strict=False):
        diffusion.rotary_pairs(c, axis, "axes_dim_rope")
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def blueprint(s: Spec[Lumina2]) -> Block:
    d, of = s.hidden, s.own
    small, refined = min(d, _MOST), Indices.below(of.num_refiner_layers)
    caption = Block({"0": rms_norm(of.cap_feat_dim), "1": Linear(of.cap_feat_dim, d, True)})
    out = Linear(d, of.patch_size * of.patch_size * of.out_channels, True)
    return block(
        x_embedder=Linear(of.patch_size * of.patch_size * of.in_channels, d, True, "embedding"),
        time_caption_embed=block(
            "embedding", timestep_embedder=time_embedding(STEP_CHANNELS, small), caption_embedder=caption
        ),
        noise_refiner=Repeat(refined, _layer(of, d, small)),
        context_refiner=Repeat(refined, _layer(of, d, None)),
        layers=Repeat(Indices.below(of.num_layers), _layer(of, d, small)),
        norm_out=block("norm", linear_1=Linear(small, d, True), linear_2=out),
    )


def _layer(of: Lumina2, d: int, step: int | None) -> Block:
    """A layer; one that is modulated by a step has the channels of that step."""
    head, width, norm = d // of.num_attention_heads, of.width, rms_norm(d)
    sizes, wide = Linear(d, of.num_kv_heads * head), of.num_attention_heads * head
    out = Block({"0": Linear(wide, d)})
    attn = normed_attention(d, wide, bias=False, norm=rms_norm(head), to_k=sizes, to_v=sizes, to_out=out)
    return block(
        attn=attn,
        feed_forward=block("mlp", linear_1=Linear(d, width), linear_2=Linear(width, d), linear_3=Linear(d, width)),
        norm1=norm if step is None else modulated(step, 4 * d, norm=norm),
        ffn_norm1=norm,
        norm2=norm,
        ffn_norm2=norm,
    )
