"""Gemma 3 without its vision tower: Gemma 2 with queries and keys normalised per head (arXiv:2503.19786)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("gemma3_text",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=256)
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 6, key="sliding_window_pattern"), 4096)
    whole = keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, windows=windows)
    return keys.seeing_both_ways(whole) if c.bool("use_bidirectional_attention", default=False) else whole


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            pre_feedforward_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer)
