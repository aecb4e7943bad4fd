"""SAM 3's decoder: queries attend to themselves, to the prompt and to the image (arXiv:2511.16719)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.detection import numbered_mlp
from hfcount.parts.vision import square_attention
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_sam3.py, modeling_sam3_lite_text.py
MODEL_TYPES = ("sam3_detr_decoder", "sam3_lite_text_detr_decoder")


class Sam3DetrDecoder(Sizes):
    """What this architecture alone has."""

    num_queries: int = size("n_q")


def spec(c: Config) -> Spec[Sam3DetrDecoder]:
    own = Sam3DetrDecoder.read(c)
    return keys.tower(c, depth=("num_layers",), indivisible="built", further={"Decoder": "base"}).having(own)


def blueprint(s: Spec[Sam3DetrDecoder]) -> Block:
    d, queries, heads = s.hidden, s.own.num_queries, s.layers[0].layer.attention.heads

    def layer(one: Layer) -> Block:
        named = dict[str, Block]()
        for name in ("self_attn", "text_cross_attn", "vision_cross_attn"):
            named |= {name: square_attention(d), f"{name}_layer_norm": layer_norm(d)}
        return Block({**named, "mlp": mlp(d, one.dense.width), "mlp_layer_norm": layer_norm(d)})

    return block(
        layers=stack(s.layers, layer),
        output_layer_norm=layer_norm(d),
        box_head=numbered_mlp(d, d, d, 4),
        query_embed=embedding(queries, d),
        reference_points=embedding(queries, 4),
        presence_token=embedding(1, d),
        presence_head=numbered_mlp(d, d, d, 1),
        presence_layer_norm=layer_norm(d),
        ref_point_head=numbered_mlp(2 * d, d, d),
        box_rpb_embed_x=numbered_mlp(2, d, heads),
        box_rpb_embed_y=numbered_mlp(2, d, heads),
    )
