"""SAM 3's encoder of boxes: where they are, and what the image shows there (arXiv:2511.16719)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.vision import convolution, square_attention
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_sam3.py, modeling_sam3_lite_text.py
MODEL_TYPES = ("sam3_geometry_encoder", "sam3_lite_text_geometry_encoder")


class Sam3GeometryEncoder(Sizes):
    """What this architecture alone has."""

    roi_size: int = size("w_o")


def spec(c: Config) -> Spec[Sam3GeometryEncoder]:
    own = Sam3GeometryEncoder.read(c)
    return keys.tower(c, depth=("num_layers",), indivisible="built").having(own)


def blueprint(s: Spec[Sam3GeometryEncoder]) -> Block:
    d, side = s.hidden, s.own.roi_size

    def layer(one: Layer) -> Block:
        return block(
            layer_norm1=layer_norm(d),
            self_attn=square_attention(d),
            cross_attn=square_attention(d),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, one.dense.width),
            layer_norm3=layer_norm(d),
        )

    return block(
        label_embed=embedding(2, d),
        cls_embed=embedding(1, d),
        boxes_direct_project=Linear(4, d, True, "embedding"),
        boxes_pool_project=block("embedding", **convolution(d, d, side).children),
        boxes_pos_enc_project=Linear(d + 2, d, True, "embedding"),
        vision_layer_norm=layer_norm(d),
        final_proj=Linear(d, d, True, "other"),
        prompt_layer_norm=layer_norm(d),
        layers=stack(s.layers, layer),
        output_layer_norm=layer_norm(d),
    )
