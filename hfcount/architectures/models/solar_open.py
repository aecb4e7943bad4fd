"""Solar Open: balanced experts beside shared ones in every layer (Solar Open technical report)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("solar_open",)  # transformers 5.23: modeling_solar_open.py
MERGED = packed()


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, qkv_bias=bias, head_dim=width)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.deepseek_moe(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=shared_moe(d, layer.moe, balanced=True))

    return decoder(s, layer_block)
