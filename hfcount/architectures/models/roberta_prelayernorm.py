"""fairseq's RoBERTa with pre-norm layers (arXiv:1904.01038)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.encoders import bert_attention, bert_base, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("roberta-prelayernorm",)  # transformers 5.23: modeling_roberta_prelayernorm.py


def spec(c: Config) -> Spec:
    return keys.encoder(c)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        norm, width = layer_norm(d), layer.dense.width
        attention = Block({**bert_attention(d, layer.attention, norm=False).children, "LayerNorm": norm})
        return block(
            attention=attention,
            crossattention=attention if layer.cross_attention else None,
            intermediate=block(LayerNorm=norm, dense=Linear(d, width, True, "mlp")),
            output=block("mlp", dense=Linear(width, d, True)),
        )

    pooled = pooler(s, heads=("base", "multiple_choice"))
    return roberta_heads(s, "roberta_prelayernorm", bert_base(s, layer_block, LayerNorm=layer_norm(d), pooler=pooled))
