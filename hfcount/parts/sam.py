"""Parts of SAM and its successors (arXiv:2304.02643, arXiv:2408.00714)."""

from collections.abc import Sequence

from hfcount.parts.norms import layer_norm
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, Tied, block


def feed_forward(inputs: int, width: int, outputs: int, depth: int, component: Component = "other") -> Block:
    """A network of `depth` layers, of which all between the first and the last map `width` to itself.

    Tensors: proj_in (width, inputs), layers (width, width), proj_out (outputs, width), with biases.
    """
    between = Repeat(Indices.below(depth - 2), Linear(width, width, True)) if depth > 2 else None
    first, last = Linear(inputs, width, True), Linear(width, outputs, True)
    return block(component, proj_in=first, layers=between, proj_out=last)


def narrowed_attention(d: int, inner: int, out: str, memory: int | None = None) -> Block:
    """Attention of another width than its input. Tensors: q_proj, k_proj, v_proj (inner, d), `out` (d, inner).

    `memory` is the width of the input of keys and values, if it is not d.
    """
    query, seen = Linear(d, inner, True), Linear(memory or d, inner, True)
    return Block({"q_proj": query, "k_proj": seen, "v_proj": seen, out: Linear(inner, d, True)}, "attention")


def two_way(d: int, inner: int, out: str, layer: Sequence[Node], norm: Block | None = None) -> Block:
    """Tokens and image that attend to each other, and tokens to the image once more.

    Tensors: layers, final_attn_token_to_image, of `inner` width, layer_norm_final_attn (d).
    """
    last = narrowed_attention(d, inner, out)
    return block(layers=tuple(layer), final_attn_token_to_image=last, layer_norm_final_attn=norm or layer_norm(d))


def two_way_layer(d: int, inner: int, out: str, network: Block) -> Block:
    """A layer of `two_way`: tokens among themselves, tokens to image, `network`, image to tokens, each with a norm."""
    crossed, norm = narrowed_attention(d, inner, out), layer_norm(d)
    return block(
        self_attn=narrowed_attention(d, d, out),
        layer_norm1=norm,
        cross_attn_token_to_image=crossed,
        layer_norm2=norm,
        mlp=network,
        layer_norm3=norm,
        layer_norm4=norm,
        cross_attn_image_to_token=crossed,
    )


def frequencies(count: int, trained: bool = False) -> Block:
    """Random frequencies that encode a place, a buffer unless trained. Tensors: positional_embedding (2, count)."""
    return block("embedding", positional_embedding=Tensor((2, count), "parameter" if trained else "buffer"))


def shared_frequencies(count: int) -> Tied:
    """The image's frequencies under the prompt encoder's name."""
    return Tied("shared_image_embedding.positional_embedding", (2, count), "embedding", name="positional_embedding")
