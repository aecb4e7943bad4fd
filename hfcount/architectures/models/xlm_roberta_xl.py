"""XLM-R XL and XXL: RoBERTa with pre-norm layers (arXiv:2105.00572)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_attention, bert_embeddings, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("xlm-roberta-xl",)  # transformers 5.23: modeling_xlm_roberta_xl.py


def spec(c: Config) -> Spec:
    return keys.encoder(c)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        norm, width = layer_norm(d), layer.dense.width
        attention = Block({**bert_attention(d, layer.attention, norm=False).children, "self_attn_layer_norm": norm})
        return block(
            attention=attention,
            crossattention=attention if layer.cross_attention else None,
            intermediate=block("mlp", dense=Linear(d, width, True)),
            output=block("mlp", dense=Linear(width, d, True)),
            LayerNorm=norm,
        )

    body = block(
        embeddings=bert_embeddings(s, norm=False),
        encoder=block(layer=stack(s.layers, layer_block), LayerNorm=layer_norm(d)),
        pooler=pooler(s, heads=("base", "multiple_choice")),
    )
    return roberta_heads(s, "roberta", body)
