"""Parts of diffusers' transformers: attention with norms, of one stream or two, and norms modulated by the step."""

from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.norms import layer_norm, rms_norm
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# diffusers 0.42.1: embeddings.py, attention.py, attention_processor.py, normalization.py

STEP_CHANNELS = 256
"""Channels of the sines and cosines of a step, where no key gives them."""


def normed_attention(
    d: int, width: int, source: int | None = None, bias: bool = True, norm: Block | None = None, **more: Node | None
) -> Block:
    """Attention, with `norm` of queries and keys. Tensors: those of `attention`, norm_q and norm_k.

    `more` are further children, or others in place of these.
    """
    plain = attention(d, width, source, bias, norm_q=norm, norm_k=norm)
    return block("attention", **{**plain.children, **more})


def joint_attention(d: int, norm: Block | None, bias: bool = True) -> Block:
    """Attention of two streams at once, all d wide: also add_*_proj, to_add_out, norm_added_q, norm_added_k."""
    added = Linear(d, d, bias)
    projections = {"add_q_proj": added, "add_k_proj": added, "add_v_proj": added, "to_add_out": added}
    norms = {"norm_added_q": norm, "norm_added_k": norm}
    return normed_attention(d, d, None, bias, norm, to_out=Block({"0": added}), **projections, **norms)


def modulated(inputs: int, outputs: int, bias: bool = True, norm: Block | None = None) -> Block:
    """A norm with scale, shift and gate computed from the step. Tensors: linear (outputs, inputs), norm."""
    return block("norm", linear=Linear(inputs, outputs, bias), norm=norm)


def modulation(d: int, count: int = 6) -> Block:
    """The modulation that all blocks share. Tensors: emb.timestep_embedder, linear (count·d, d)."""
    step = block(timestep_embedder=time_embedding(STEP_CHANNELS, d))
    return block("embedding", emb=step, linear=Linear(d, count * d, True))


def table(*shape: int) -> Tensor:
    """A table of scales, shifts and gates, added to those computed from the step."""
    return Tensor(shape, component="norm")


def head_norm(kind: str | None, d: int, heads: int) -> Block | None:
    """The norm of queries and keys by its name: per head or across heads; None if it has no tensors."""
    across = heads * d
    known = {
        "layer_norm": layer_norm(d),
        "rms_norm": rms_norm(d),
        "layer_norm_across_heads": layer_norm(across),
        "rms_norm_across_heads": rms_norm(across),
    }
    return known.get(kind or "")


def patches(inputs: int, d: int, *sides: int, bias: bool = True) -> Block:
    """The projection of patches to tokens, a convolution. Tensors: weight (d, inputs, *sides), bias (d)."""
    return block("embedding", weight=Tensor((d, inputs, *sides)), bias=Tensor((d,)) if bias else None)


def gated_convolution(d: int, width: int) -> Block:
    """A gated network that also mixes neighbouring places.

    Tensors: conv_inverted (2·w, d, 1, 1), conv_depth (2·w, 1, 3, 3), conv_point (d, w, 1, 1), which has no bias.
    """
    wide = 2 * width
    first, point = conv(d, wide, 1, bias=True), conv(width, d, 1)
    return block("mlp", conv_inverted=first, conv_depth=depthwise(wide, 3, bias=True), conv_point=point)


def gated_self_attention(d: int, source: int) -> Block:
    """Attention and a gated network over tokens and places of objects (arXiv:2301.07093).

    Tensors: linear (d, source), attn, ff, norm1, norm2, and alpha_attn and alpha_dense, a number each.
    """
    return block(
        alpha_attn=Tensor((), component="attention"),
        alpha_dense=Tensor((), component="mlp"),
        linear=Linear(source, d, True, "attention"),
        attn=attention(d, d, bias=False),
        ff=feed_forward(d, 4 * d, gated=True),
        norm1=layer_norm(d),
        norm2=layer_norm(d),
    )
