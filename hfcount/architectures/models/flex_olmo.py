"""FlexOlmo: OLMo 2 with routed experts, norms behind attention and feed-forward (arXiv:2507.07024)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, rms_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("flex_olmo",)  # transformers 5.23: modeling_flex_olmo.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm="width")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.moe(c, "intermediate_size")))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=moe(d, layer.moe, swiglu(d, layer.moe.width, component="experts")),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
