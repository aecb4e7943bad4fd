"""Whole blocks of diffusers' transformers: its basic one, those of one stream or two, and what refines a text."""

from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import (
    STEP_CHANNELS,
    joint_attention,
    modulated,
    normed_attention,
    table,
)
from hfcount.architectures.layers.norms import layer_norm, rms_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, obsolete

# diffusers 0.42.1: attention.py, normalization.py, transformer_flux.py, transformer_hunyuan_video.py,
# transformer_hunyuanimage.py, transformer_wan.py


def basic_block(
    d: int, source: int | None, kind: str, *, affine: bool, bias: bool, gated: bool, classes: int | None = None
) -> Block:
    """The basic block. Tensors: norm1, attn1, with a `source` norm2 and attn2, norm3, ff, scale_shift_table.

    `kind` says how its norms are modulated, `affine` whether those that are not have tensors, and `classes` is the
    number of classes, or of steps, that they are modulated by.
    """
    norm = layer_norm(d) if affine else None
    first = {"ada_norm": _by_table(d, classes), "ada_norm_zero": _by_class(d, classes)}.get(kind, norm)
    second = _by_table(d, classes) if kind == "ada_norm" else norm
    return block(
        scale_shift_table=table(6, d) if kind == "ada_norm_single" else None,
        norm1=first,
        attn1=attention(d, d, bias=bias),
        norm2=second if source is not None or kind == "ada_norm_single" else None,
        attn2=None if source is None else attention(d, d, source, bias),
        norm3=norm if kind in ("ada_norm", "ada_norm_zero", "layer_norm") else None,
        ff=feed_forward(d, 4 * d, gated=gated),
    )


def _by_table(d: int, rows: int | None) -> Block | None:
    """A norm modulated by one of `rows` steps."""
    if rows is None:
        return None
    return block("norm", emb=block(weight=Tensor((rows, d))), linear=Linear(d, 2 * d, True))


def _by_class(d: int, classes: int | None) -> Block | None:
    """A norm modulated by a step and one of `classes`, or no class."""
    if classes is None:
        return None
    rows = block(embedding_table=block(weight=Tensor((classes + 1, d))))
    step = block(timestep_embedder=time_embedding(STEP_CHANNELS, d), class_embedder=rows)
    return block("norm", emb=step, linear=Linear(d, 6 * d, True))


def joint_block(d: int, norm: Block | None, width: int, gated: bool = False) -> Block:
    """A block of two streams that attend to each other, with networks of `width` and norms modulated by the step."""
    network, modulation = feed_forward(d, width, gated=gated), modulated(d, 6 * d)
    return block(
        norm1=modulation, norm1_context=modulation, attn=joint_attention(d, norm), ff=network, ff_context=network
    )


def single_block(d: int, norm: Block | None, width: int, gated: bool = False) -> Block:
    """A block of one stream, with parallel attention and network of `width`. Tensors: norm, proj_mlp, proj_out."""
    return block(
        attn=normed_attention(d, d, norm=norm, to_out=None),
        norm=modulated(d, 3 * d),
        proj_mlp=Linear(d, 2 * width if gated else width, True, "mlp"),
        proj_out=Linear(d + width, d, True, "mlp"),
    )


def video_block(d: int, width: int, crossed: bool, added: int | None = None, **more: Node) -> Block:
    """A block of Wan. Tensors: scale_shift_table (1, 6, d), attn1, attn2, if `crossed` norm2, and ffn, so wide.

    `added` is the width of what attn2 also attends to; `more` are further children of attn1.
    """
    norm, beside = rms_norm(d), dict[str, Node | None]()
    if added is not None:
        source = Linear(added, d, True)
        unused = block("norm", weight=obsolete(d))  # of the queries, which the loader skips
        beside = {"add_k_proj": source, "add_v_proj": source, "norm_added_k": norm, "norm_added_q": unused}
    return block(
        scale_shift_table=table(1, 6, d),
        attn1=altered(normed_attention(d, d, norm=norm), **more),
        attn2=altered(normed_attention(d, d, norm=norm), **beside),
        norm2=layer_norm(d) if crossed else None,
        ffn=feed_forward(d, width),
    )


def step_and_text(step: int, text: int, d: int, image: Block | None = None) -> Block:
    """The embedding of a step (`step` features) and a text (`text` wide). Tensors: time_embedder, time_proj (6·d, d).

    Also text_embedder and, with what embeds an `image`, image_embedder.
    """
    return block(
        "embedding",
        time_embedder=time_embedding(step, d),
        time_proj=Linear(d, 6 * d, True),
        text_embedder=time_embedding(text, d),
        image_embedder=image,
    )


def seen_image(inputs: int, d: int, positions: int | None) -> Block:
    """The embedding of an image for Wan. Tensors: norm1, ff, norm2 and, with `positions`, pos_embed."""
    places = None if positions is None else Tensor((1, positions, inputs))
    network = feed_forward(inputs, inputs, d)
    return block(norm1=layer_norm(inputs), ff=network, norm2=layer_norm(d), pos_embed=places)


def projected_image(inputs: int, d: int) -> Block:
    """The embedding of an image from a language model. Tensors: norm_in, linear_1, linear_2 (d, inputs), norm_out."""
    return block(
        "embedding",
        norm_in=layer_norm(inputs),
        linear_1=Linear(inputs, inputs, True),
        linear_2=Linear(inputs, d, True),
        norm_out=layer_norm(d),
    )


def glyphs(inputs: int, d: int) -> Block:
    """The embedding of a text's letters from ByT5. Tensors: norm, linear_1, linear_2, linear_3 (d, 2048)."""
    inner = 2048
    return block(
        "embedding",
        norm=layer_norm(inputs),
        linear_1=Linear(inputs, inner, True),
        linear_2=Linear(inner, inner, True),
        linear_3=Linear(inner, d, True),
    )


def token_refiner(text: int, d: int, layers: int) -> Block:
    """`layers` layers that refine the tokens of a text, with networks of width 4·d.

    Tensors: time_text_embed, proj_in (d, text) and token_refiner.refiner_blocks.
    """
    layer = block(
        norm1=layer_norm(d),
        attn=normed_attention(d, d),
        norm2=layer_norm(d),
        ff=feed_forward(d, 4 * d),
        norm_out=modulated(d, 2 * d),
    )
    step = block(timestep_embedder=time_embedding(STEP_CHANNELS, d), text_embedder=time_embedding(text, d))
    refined = block(refiner_blocks=Repeat(Indices.below(layers), layer))
    return block(time_text_embed=step, proj_in=Linear(text, d, True, "embedding"), token_refiner=refined)
