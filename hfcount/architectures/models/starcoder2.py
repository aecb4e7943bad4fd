"""StarCoder 2: layer norms, a classic feed-forward network, biases throughout (arXiv:2402.19173)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, layer_norm, mlp, pre_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("starcoder2",)  # transformers 5.23: modeling_starcoder2.py


def spec(c: Config) -> Spec:
    bias = c.bool("use_bias", default=True)
    mixer = keys.attention(c, bias=bias)
    windows = keys.sliding_everywhere(c)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)), tied=True, windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            layer_norm,
            self_attn=gqa(d, layer.attention),
            mlp=mlp(d, layer.dense.width, layer.dense.bias, "c_fc", "c_proj"),
        )

    return decoder(s, layer_block, norm=layer_norm(d))
