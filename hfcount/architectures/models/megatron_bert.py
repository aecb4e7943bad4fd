"""Megatron-BERT: BERT with pre-norm layers (arXiv:1909.08053)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_attention, bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("megatron-bert",)  # transformers 5.23: modeling_megatron_bert.py

_HEADS = ("ForCausalLM", *keys.ENCODER_HEADS, "ForPreTraining", "ForNextSentencePrediction")


def spec(c: Config) -> Spec:
    return keys.encoder(c, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        attention = Block({"ln": layer_norm(d), **bert_attention(d, layer.attention, norm=False).children})
        return block(
            attention=attention,
            crossattention=attention if layer.cross_attention else None,
            ln=layer_norm(d),
            intermediate=block("mlp", dense=Linear(d, width, True)),
            output=block("mlp", dense=Linear(width, d, True)),
        )

    encoder = block(layer=stack(s.layers, layer_block), ln=layer_norm(d))
    body = block(embeddings=bert_embeddings(s, norm=False), encoder=encoder, pooler=pooler(s))
    return bert_heads(s, "bert", body)
