"""Cosmos 3 Edge's language model: grouped heads, networks without a gate (arXiv:2511.00062)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, mlp, pre_norm
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("cosmos3_edge_text",)  # transformers 5.23: modeling_cosmos3_edge.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(c, layer, heads=("Model",))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=mlp(d, one.dense.width, one.dense.bias))

    return base(s, layer)
