"""Gemma 2: attention and feed-forward normalised before and after (arXiv:2408.00118)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("gemma2",)  # transformers 5.23: modeling_gemma2.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), head_dim=256, indivisible="refused")
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 2), default=4096)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            pre_feedforward_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
