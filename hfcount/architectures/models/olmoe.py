"""OLMoE: routed experts in every layer, queries and keys normalised over all heads (arXiv:2409.02060)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, moe, pre_norm, rms_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("olmoe",)  # transformers 5.23: modeling_olmoe.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm="width", indivisible="built")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.moe(c, "intermediate_size")))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        keys_ = d if a.kv_heads == a.heads else d // a.heads * a.kv_heads  # whatever the width of a head
        return pre_norm(
            d,
            self_attn=altered(gqa(d, a), q_norm=rms_norm(d), k_norm=rms_norm(keys_)),
            mlp=moe(d, layer.moe, swiglu(d, layer.moe.width, component="experts")),
        )

    return decoder(s, layer_block)
