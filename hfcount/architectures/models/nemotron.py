"""Nemotron-4 and Minitron: layer norms, an ungated feed-forward network (arXiv:2402.16819)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, layer_norm, mlp, pre_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("nemotron",)  # transformers 5.23: modeling_nemotron.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            layer_norm,
            self_attn=gqa(d, layer.attention),
            mlp=mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj"),
        )

    return decoder(s, layer_block, question_answering="transformer", norm=layer_norm(d))
