"""SAM 3's encoder: an image's features attend to themselves and to a prompt (arXiv:2511.16719)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import square_attention
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_sam3.py, modeling_sam3_lite_text.py
MODEL_TYPES = ("sam3_detr_encoder", "sam3_lite_text_detr_encoder")


def spec(c: Config) -> Spec:
    return keys.tower(c, depth=("num_layers",), indivisible="built")


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            layer_norm1=layer_norm(d),
            self_attn=square_attention(d),
            cross_attn=square_attention(d),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, one.dense.width),
            layer_norm3=layer_norm(d),
        )

    return block(layers=stack(s.layers, layer))
