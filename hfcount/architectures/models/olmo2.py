"""OLMo 2 and 3: norms behind attention and feed-forward, queries and keys normalised whole (arXiv:2501.00656)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("olmo2", "olmo3")  # transformers 5.23: modeling_olmo2.py, modeling_olmo3.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm="width")
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 4), default=4096) if c.family == "olmo3" else ()
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
