"""Qwen2.5-VL: Qwen2.5 with a vision transformer that attends in windows (arXiv:2502.13923)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, rms_norm, swiglu
from hfcount.parts.composite import beside
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("qwen2_5_vl",)  # transformers 5.23: modeling_qwen2_5_vl.py


def spec(c: Config) -> Spec:
    text = c.sub("text_config") or c
    towers = {"vision": families.part(c, "vision_config", always="qwen2_5_vl_vision")}
    layer = Layer(mixer=keys.attention(text, qkv_bias=True), ffn=keys.dense(text))
    heads, windows = ("ForConditionalGeneration", "Model"), keys.sliding_later(text, first=80)
    whole = keys.decoder_spec(text, layer, whole=c, heads=heads, parts=towers, windows=windows)
    return whole.but(tied=keys.tied_anywhere(c, text))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width),
        )

    return beside(s, base(s, layer), visual=families.tower(s, "vision"))
