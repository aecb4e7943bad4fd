"""The vision tower of the first GLM-4V: EVA-CLIP's layers, a convolution, and a gated network (arXiv:2406.12793)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("glm4v_9b_vision",)  # modeling_chatglm.py of THUDM/glm-4v-9b, and visual.py beside it
IGNORED = ("image_size", "scaling_factor")


def spec(c: Config) -> Spec:
    seen = keys.patches(c, "in_channels")
    return keys.tower(c, heads=("num_heads",), patches=seen, positions=c.int("num_positions"), indivisible="built")


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=layer_norm(d),
            attention=block("attention", query_key_value=Linear(d, 3 * d, True), dense=Linear(d, d, True)),
            mlp=mlp(d, one.dense.width),
            post_attention_layernorm=layer_norm(d),
        )

    first = Tensor((1, d), component="embedding")
    table = block(cls_embedding=first, position_embedding=positions(s), proj=patch_convolution(s))
    return block(patch_embedding=table, transformer=block(layers=stack(s.layers, layer)))
