"""Molmo's vision tower, which is CLIP's under other names (arXiv:2409.17146)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import patch_projection, pooling_attention
from hfcount.spec import GQA, Dense, Layer, Patches, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("molmo_vision",)  # modeling_molmo.py of allenai/Molmo-7B-D-0924


def spec(c: Config) -> Spec:
    # No config describes the tower: it is the implementation's, CLIP ViT-L/14 of 336 pixels without its last layer.
    layer = Layer(mixer=GQA(heads=16, kv_heads=16, head_dim=64), ffn=Dense(width=4096, bias=True))
    patches = Patches(side=14, channels=3)
    return keys.encoding(c, keys.uniform(layer, 23), hidden=1024, patches=patches, positions=577)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            attention=pooling_attention(d, d),
            feed_forward=mlp(d, one.dense.width, up="w1", down="w2"),
            attention_norm=layer_norm(d),
            ffn_norm=layer_norm(d),
        )

    return block(
        class_embedding=Tensor((d,), component="embedding"),
        positional_embedding=Tensor((s.positions or 0, d), component="embedding"),
        patch_embedding=patch_projection(s),
        pre_ln=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer)),
    )
