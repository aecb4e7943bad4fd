"""Molmo 2's adapter: attention that pools patches of several layers of the tower, then SwiGLU."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("molmo2_adapter",)  # transformers 5.23: modeling_molmo2.py


class Molmo2Adapter(Sizes):
    """What this architecture alone has."""

    vision_feature_layer: int


def spec(c: Config) -> Spec[Molmo2Adapter]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=True))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=c.bool("mlp_bias", default=False)))
    read = c.length("vit_layers", "vision_feature_layer")
    return keys.encoding(
        c,
        keys.uniform(layer, 1),
        {"Adapter": "base"},
        hidden=c.int("hidden_size"),
        out=c.int("text_hidden_size"),
    ).having(Molmo2Adapter.read(c, vision_feature_layer=keys.dim("n_v", 2 if read is None else read)))


def blueprint(s: Spec[Molmo2Adapter]) -> Block:
    d, one = s.hidden, s.layers[0].layer
    a, width, bias = one.attention, one.dense.width, one.dense.bias
    seen, query = s.own.vision_feature_layer * d, a.heads * a.head_dim
    shared = Linear(seen, a.kv_heads * a.head_dim, a.qkv_bias)
    pooling = [Linear(seen, query, a.qkv_bias), shared, shared, Linear(query, d, a.out_bias)]
    network = [Linear(d, width, bias), Linear(d, width, bias), Linear(width, s.output)]
    # Within the whole model the names are those of the release.
    names = ("wq", "wk", "wv", "wo") if s.place else ("q_proj", "k_proj", "v_proj", "o_proj")
    others = ("w1", "w3", "w2") if s.place else ("gate_proj", "up_proj", "down_proj")
    return block(
        "projector",
        image_pooling_2d=Block(dict(zip(names, pooling, strict=True))),
        image_projector=Block(dict(zip(others, network, strict=True))),
    )
