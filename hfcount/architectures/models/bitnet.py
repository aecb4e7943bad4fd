"""BitNet b1.58: norms also before the output projections; counted as unpacked weights (arXiv:2504.12285)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("bitnet",)  # transformers 5.23: modeling_bitnet.py


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c, bias=bias, indivisible="built"), ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return pre_norm(
            d,
            self_attn=altered(gqa(d, layer.attention), attn_sub_norm=rms_norm(d)),
            mlp=altered(swiglu(d, width), ffn_sub_norm=rms_norm(width)),
        )

    return decoder(s, layer_block)
