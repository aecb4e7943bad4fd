"""Qwen3 with routed experts, in all layers or some (arXiv:2505.09388)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, network, pre_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

# transformers 5.23: modeling_qwen3_moe.py, modeling_qwen3_omni_moe.py
MODEL_TYPES = ("qwen3_moe", "qwen3_omni_moe_text")
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    c.confirms(use_qk_norm=True)
    layers = keys.sparse_steps(c, mixer, keys.dense(c), lambda: keys.moe(c, "moe_intermediate_size"))
    if c.family == "qwen3_omni_moe_text":  # which has no switch for its window
        return keys.decoder_spec(c, layers, windows=keys.sliding_everywhere(c))
    slides = c.bool("use_sliding_window", default=False)
    return keys.decoder_spec(c, layers, windows=keys.sliding_everywhere(c, default=4096) if slides else ())


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            mlp=network(d, layer, lambda m: moe(d, m, swiglu(d, m.width, component="experts"))),
        )

    return decoder(s, layer_block, question_answering="transformer")
