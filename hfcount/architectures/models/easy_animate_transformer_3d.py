"""EasyAnimate: a transformer that denoises videos and a text side by side, and for the last layers as one sequence."""

from hfcount.architectures.layers import diffusion, layer_norm, rms_norm
from hfcount.architectures.layers.diffusion.layers import conv, feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    joint_attention,
    modulated,
    normed_attention,
)
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("EasyAnimateTransformer3DModel",)  # diffusers 0.42.1: transformer_easyanimate.py


class EasyAnimate(Sizes):
    """Sizes specific to EasyAnimate; `joint` are the layers with weights of their own for the text.

    `text_embed_dim_t5` is the width of a second text, None without one.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    patch_size: int = size("p", minimum=1)
    time_embed_dim: int = size("d_s")
    text_embed_dim: int = size("d_t")
    num_layers: int = count("L")
    norm_elementwise_affine: bool = flag()
    add_norm_text_encoder: bool = flag()
    after_norm: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    text_embed_dim_t5: int | None = derived(lambda c: diffusion.nullable(c, "text_embed_dim_t5", "d_t5"))
    joint: Indices


def spec(c: Config) -> Spec[EasyAnimate]:
    layers = c.int("num_layers", maximum=MAX_LAYERS)
    joint = min(layers, c.int("mmdit_layers", minimum=0, maximum=MAX_LAYERS))
    sizes = EasyAnimate.read(c, joint=Indices.span(0, joint))
    diffusion.activation(c, "timestep_activation_fn")
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[EasyAnimate]) -> Block:
    d, of, second = s.hidden, s.own, s.own.text_embed_dim_t5
    affine, every = layer_norm(d) if of.norm_elementwise_affine else None, Indices.below(of.num_layers)
    return block(
        time_embedding=time_embedding(d, of.time_embed_dim),
        proj=block("embedding", **conv(of.in_channels, d, of.patch_size).children),
        text_proj=_text(of, of.text_embed_dim, d),
        text_proj_t5=None if second is None else _text(of, second, d),
        transformer_blocks=(
            Repeat(of.joint, _layer(of, d, True)),
            Repeat(every.difference(of.joint), _layer(of, d, False)),
        ),
        norm_final=affine,
        norm_out=modulated(of.time_embed_dim, 2 * d, norm=affine),
        proj_out=Linear(d, of.patch_size * of.patch_size * of.out_channels, True),
    )


def _text(of: EasyAnimate, inputs: int, d: int) -> Block | Linear:
    """What embeds a text; the norm before it is as wide as the first text, whichever it is."""
    embedded = Linear(inputs, d, True, "embedding")
    return Block({"0": rms_norm(of.text_embed_dim), "1": embedded}) if of.add_norm_text_encoder else embedded


def _layer(of: EasyAnimate, d: int, joint: bool) -> Block:
    norm, network = layer_norm(of.attention_head_dim), feed_forward(d, 4 * d, gated=of.gated)
    affine = layer_norm(d) if of.norm_elementwise_affine else None
    modulation = modulated(of.time_embed_dim, 6 * d, norm=affine)
    return block(
        norm1=modulation,
        attn1=joint_attention(d, norm) if joint else normed_attention(d, d, norm=norm),
        norm2=modulation,
        ff=network,
        txt_ff=network if joint else None,
        norm3=affine if of.after_norm else None,
    )
