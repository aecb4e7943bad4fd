"""Muse Glimmer's language model: a gate on the output of attention, norms around each branch, windows in most."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("muse_glimmer_text",)  # transformers 5.23: modeling_muse_glimmer.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer, windows = Layer(mixer=mixer, ffn=keys.dense(c)), keys.sliding(c, lambda: keys.but_every_nth_from_end(c, 4))
    return keys.decoder_spec(c, layer, heads=("Model",), windows=windows)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer(one: Layer) -> Block:
        a = one.attention
        return block(
            self_attn=altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim)),
            mlp=swiglu(d, one.dense.width),
            input_layernorm=norm,
            post_attention_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
        )

    return base(s, layer)
