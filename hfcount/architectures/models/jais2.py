"""Jais 2: layer norms, an ungated feed-forward network, biases throughout (https://huggingface.co/inceptionai/Jais-2-8B-Chat)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, layer_norm, mlp, pre_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("jais2",)  # transformers 5.23: modeling_jais2.py


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=True)
    mixer = keys.attention(c, bias=bias, indivisible="refused")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=True))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            layer_norm,
            self_attn=gqa(d, layer.attention),
            mlp=mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj"),
        )

    return decoder(s, layer_block, norm=layer_norm(d))
