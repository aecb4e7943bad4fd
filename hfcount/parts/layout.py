"""Parts of encoders that see where on a page something stands (arXiv:2204.08387)."""

from collections.abc import Mapping

from hfcount.parts.convolution import conv
from hfcount.parts.encoders import bert_attention, bert_embeddings
from hfcount.parts.layers import within
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import layer_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Presence, block


def corners(of: Mapping[str, int]) -> Block:
    """Tables for corners and sizes of boxes. Tensors: {x,y}_position_embeddings and {h,w}_position_embeddings."""
    rows = of["max_2d_position_embeddings"]
    sizes = {"x": of["coordinate_size"], "y": of["coordinate_size"], "h": of["shape_size"], "w": of["shape_size"]}
    return Block({f"{which}_position_embeddings": embedding(rows, width) for which, width in sizes.items()})


def distances(of: Mapping[str, int], heads: int, spatial: Presence = "required") -> Block:
    """What distances add to attention, in bins. Tensors: rel_pos_bias (h, b), rel_pos_x_bias, rel_pos_y_bias (h, b_2).

    `spatial` is whether a checkpoint holds the last two.
    """
    one = Linear(of["rel_pos_bins"], heads, component="attention")
    two = Linear(of["rel_2d_pos_bins"], heads, component="attention", presence=spatial)
    return block(
        rel_pos_bias=one if of["has_relative_attention_bias"] else None,
        rel_pos_x_bias=two if of["has_spatial_attention_bias"] else None,
        rel_pos_y_bias=two if of["has_spatial_attention_bias"] else None,
    )


def reading_order(s: Spec) -> Block:
    """An encoder of boxes and their labels, and a score for each pair: which of them is read first (PaddleOCR).

    Tensors: embeddings, label_embeddings, label_features_projection, encoder, relative_head.
    """
    d, of, norm, heads = s.hidden, s.traits, layer_norm(s.hidden), s.layers[0].layer.attention.heads
    across = 4 * of["coordinate_size"] + 2 * of["shape_size"]
    own = block(norm=norm, spatial_proj=Linear(across, d, True, "embedding"))

    def layer(one: Layer) -> Block:
        attention = bert_attention(d, one.attention, norm=False)
        return block(
            attention=within(attention, output=block(norm=norm)),
            intermediate=block("mlp", dense=Linear(d, one.dense.width, True)),
            output=block(dense=Linear(one.dense.width, d, True, "mlp"), norm=norm),
        )

    related = conv(4 * of["relation_bias_embed_dim"], heads, 1, bias=True)
    # The bins are stored, and what is added instead of them is computed from the boxes.
    stored = distances(of, heads, "dispensable")
    return block(
        embeddings=bert_embeddings(s, norm=False, more=Block({**corners(of).children, **own.children})),
        label_embeddings=embedding(of["num_classes"], d),
        label_features_projection=Linear(d, d, True, "embedding"),
        encoder=Block({"layer": stack(s.layers, layer), **stored.children, "rel_bias_module": block(pos_proj=related)}),
        relative_head=block("other", dense=Linear(d, 2 * of["global_pointer_head_size"], True)),
    )
