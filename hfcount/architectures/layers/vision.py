"""Parts of vision transformers (arXiv:2010.11929)."""

from collections.abc import Iterable

from hfcount.architectures.layers.ffn import mlp
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block, obsolete


def patch_convolution(s: Spec, bias: bool = True, width: int | None = None) -> Block:
    """The projection of a patch, as a convolution. Tensors: weight (d, C, frames, P, P) and, with `bias`, bias (d).

    `width` replaces d.
    """
    d = width or s.hidden
    return block("embedding", weight=Tensor((d, *s.seen.kernel)), bias=Tensor((d,)) if bias else None)


def convolution(inputs: int, outputs: int, side: int, bias: bool = True) -> Block:
    """A convolution over images. Tensors: weight (outputs, inputs, side, side) and, with `bias`, bias (outputs)."""
    return block(weight=Tensor((outputs, inputs, side, side)), bias=Tensor((outputs,)) if bias else None)


def vit_attention(d: int, a: GQA, key_bias: bool = True, **inner: Node | None) -> Block:
    """Attention as ViT names it (arXiv:2010.11929); without `key_bias` keys never have a bias.

    Tensors: attention.query, key and value (h·h_d, d), output.dense (d, h·h_d); `inner` are further ones in attention.
    """
    wide = a.heads * a.head_dim
    into, keys, out = Linear(d, wide, a.qkv_bias), Linear(d, wide, a.qkv_bias and key_bias), Linear(wide, d, True)
    return block("attention", attention=block(query=into, key=keys, value=into, **inner), output=block(dense=out))


def vit_layer(d: int, layer: Layer, attention: Block | None = None) -> Block:
    """A layer as ViT names it.

    Tensors: layernorm_before (d), attention, layernorm_after (d), intermediate.dense (d_ff, d), output.dense (d, d_ff).

    `attention` replaces the usual one.
    """
    return block(
        layernorm_before=layer_norm(d),
        attention=attention or vit_attention(d, layer.attention),
        layernorm_after=layer_norm(d),
        intermediate=block("mlp", dense=Linear(d, layer.dense.width, True)),
        output=block("mlp", dense=Linear(layer.dense.width, d, True)),
    )


def patch_projection(s: Spec, bias: bool = False) -> Linear:
    """The projection of a patch, flattened. Tensors: weight (d, C·P²) and, with `bias`, bias (d)."""
    return Linear(s.seen.pixels, s.hidden, bias, "embedding")


def square_attention(d: int, bias: bool = True, out: str = "o_proj") -> Block:
    """Attention whose heads share the width. Tensors: q_proj, k_proj, v_proj and `out`, each (d, d)."""
    square = Linear(d, d, bias)
    return Block({"q_proj": square, "k_proj": square, "v_proj": square, out: square}, "attention")


def fused_square_attention(d: int, bias: bool = True, out_bias: bool = True) -> Block:
    """Attention with a fused q/k/v projection. Tensors: qkv (3·d, d), proj (d, d)."""
    return block("attention", qkv=Linear(d, 3 * d, bias), proj=Linear(d, d, out_bias))


def clip_layer(d: int, layer: Layer) -> Block:
    """A layer as CLIP names it (arXiv:2103.00020), with biases everywhere.

    Tensors: layer_norm1 (d), self_attn with out_proj, layer_norm2 (d), mlp with fc1 (d_ff, d) and fc2 (d, d_ff).
    """
    attention = square_attention(d, out="out_proj")
    return block(
        layer_norm1=layer_norm(d), self_attn=attention, layer_norm2=layer_norm(d), mlp=mlp(d, layer.dense.width)
    )


def cosine_layer(d: int, layer: Layer, window: int) -> Block:
    """A layer of Swin version 2 (arXiv:2111.09883), named as in ViT.

    Tensors of attention.self: query, key without bias, value, logit_scale (h, 1, 1), and continuous_position_bias_mlp,
    which makes the bias of each head from two coordinates. Earlier versions stored what follows from `window`.
    """
    a, between = layer.attention, 512  # the width of the network of positions
    side, area, into = 2 * window - 1, window * window, Linear(d, d, a.qkv_bias)
    inner = block(
        logit_scale=Tensor((a.heads, 1, 1)),
        continuous_position_bias_mlp=Block({"0": Linear(2, between, True), "2": Linear(between, a.heads)}),
        query=into,
        key=Linear(d, d),
        value=into,
        relative_coords_table=obsolete(1, side, side, 2),
        relative_position_index=obsolete(area, area, whole=True),
    )
    attention = block("attention", self=inner, output=block(dense=Linear(d, d, True)))
    return altered(vit_layer(d, layer), attention=attention)


def stage_norms(s: Spec, widths: Iterable[int]) -> Block:
    """Norms of the features that a backbone outputs; `widths` are those of the stem and of each stage.

    Tensors: hidden_states_norms.stem (d_1), hidden_states_norms.stageN (d_N).
    """
    norms = {place: layer_norm(width) for place, width in enumerate(widths) if place in s.given_out}
    named = {f"stage{place}" if place else "stem": norm for place, norm in norms.items()}
    return block(hidden_states_norms=Block(named))
