"""The language model of DeepSeek-OCR 2 and Unlimited OCR: plain attention, experts routed and shared."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, network, pre_norm, shared_moe
from hfcount.parts.conversions import packed
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block

# transformers 5.23: modeling_deepseek_ocr2.py, modeling_unlimited_ocr.py
MODEL_TYPES = ("deepseek_ocr2_text", "unlimited_ocr_text")
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), derived=True, indivisible="refused")
    bias, places = c.bool("mlp_bias", default=False), keys.dense_and_sparse(c, "first_k_dense_replace", default=1)
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c).replace(bias=bias), mixer, bias=bias)
    kind, every = "reference_sliding_attention", Indices.below(keys.layer_count(c))
    windows = keys.sliding(c, lambda: every, default=128, kind=kind) if c.family == "unlimited_ocr_text" else ()
    return keys.decoder_spec(c, layers, heads=("Model",), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = network(d, one, lambda m: shared_moe(d, m, bias=m.bias))
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=ffn)

    return base(s, layer)
