"""LayoutLMv2 and LayoutXLM: words with their places, and a page as detectron2's ResNeXt sees it (arXiv:2012.14740)."""

from hfcount import keys
from hfcount.keys.detectron import pyramid
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack, within
from hfcount.parts.classic import classifier
from hfcount.parts.detectron import feature_pyramid
from hfcount.parts.encoders import bert_embeddings, bert_heads, bert_layer
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block, obsolete

# transformers 5.23: modeling_layoutlmv2.py
# The names of the backbone are those of detectron2 0.6, modeling/backbone/resnet.py and fpn.py.
MODEL_TYPES = ("layoutlmv2", "layoutxlm")
IGNORED = ("max_rel_pos", "max_rel_2d_pos", "convert_sync_batchnorm")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


def spec(c: Config) -> Spec:
    traits = {
        "max_2d_position_embeddings": keys.sized("n_2", c.int("max_2d_position_embeddings")),
        "coordinate_size": keys.sized("d_x", c.int("coordinate_size")),
        "shape_size": keys.sized("d_s", c.int("shape_size")),
        "rel_pos_bins": keys.sized("b", c.int("rel_pos_bins")),
        "rel_2d_pos_bins": keys.sized("b_2", c.int("rel_2d_pos_bins")),
        "fast_qkv": c.bool("fast_qkv", default=True),
        "has_visual_segment_embedding": c.bool("has_visual_segment_embedding", default=False),
        **{key: c.bool(key, default=True) for key in ("has_relative_attention_bias", "has_spatial_attention_bias")},
        **pyramid(c),
    }
    pooled = c.ints("image_feature_pool_shape", default=(7, 7, traits["fpn"]))
    if len(pooled) < 2 or (len(pooled) > 2 and pooled[2] != traits["fpn"]):
        said = f"image_feature_pool_shape must be height, width and the {traits['fpn']:,} channels of the backbone."
        raise c.error(said, "image_feature_pool_shape")
    traits["seen"] = pooled[-1] if len(pooled) > 2 else traits["fpn"]
    return keys.encoder(c, heads=_HEADS, traits=traits, decoding=False).but(tied=False)


def blueprint(s: Spec) -> Block:
    d, of, heads = s.hidden, s.traits, s.layers[0].layer.attention.heads
    rows, norm = of["max_2d_position_embeddings"], layer_norm(s.hidden)
    sizes = {"x": of["coordinate_size"], "y": of["coordinate_size"], "h": of["shape_size"], "w": of["shape_size"]}
    places = Block({f"{which}_position_embeddings": embedding(rows, width) for which, width in sizes.items()})
    one, two = (Linear(of[key], heads, component="attention") for key in ("rel_pos_bins", "rel_2d_pos_bins"))
    spatial = two if of["has_spatial_attention_bias"] else None
    segment = of["has_visual_segment_embedding"] or s.head == "question_answering"
    colours = obsolete(of["channels"], 1, 1)
    body = block(
        embeddings=bert_embeddings(s, more=places),
        visual=Block({"backbone": feature_pyramid(of), "pixel_mean": colours, "pixel_std": colours}, "vision", 0),
        visual_proj=Linear(of["seen"], d, True, "projector"),
        visual_segment_embedding=Tensor((d,), component="embedding") if segment else None,
        visual_LayerNorm=norm,
        encoder=block(
            layer=stack(s.layers, lambda one: _layer(d, one, bool(of["fast_qkv"]))),
            rel_pos_bias=one if of["has_relative_attention_bias"] else None,
            rel_pos_x_bias=spatial,
            rel_pos_y_bias=spatial,
        ),
        pooler=block("other", dense=Linear(d, d, True)),
    )
    return bert_heads(s, "layoutlmv2", body, sequence_classification=block(classifier=classifier(s, 3 * d)))


def _layer(d: int, one: Layer, fused: bool) -> Block:
    layer = bert_layer(d, one)
    if not fused:
        return layer
    wide = one.attention.heads * one.attention.head_dim
    bias = Tensor((1, 1, wide))
    own = block("attention", qkv_linear=Linear(d, 3 * wide), q_bias=bias, v_bias=bias)
    return within(layer, attention=block(self=own))
