"""Longformer: attention within a window, and to chosen tokens by projections of their own (arXiv:2004.05150)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm
from hfcount.architectures.layers.encoders import bert_base, bert_layer, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("longformer",)  # transformers 5.23: modeling_longformer.py
IGNORED = ("onnx_export",)

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


def spec(c: Config) -> Spec:
    keys.check_even(c, keys.layer_count(c))
    return keys.encoder(c, decoding=False, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)
    near = block("attention", query=square, key=square, value=square)
    chosen = block("attention", query_global=square, key_global=square, value_global=square)

    def layer_block(layer: Layer) -> Block:
        output = block(dense=Linear(d, d, True, "attention"), LayerNorm=layer_norm(d))
        return altered(bert_layer(d, layer), attention=block(self=altered(near, **chosen.children), output=output))

    return roberta_heads(
        s, "longformer", bert_base(s, layer_block, pooler=pooler(s, heads=("base", "multiple_choice")))
    )
