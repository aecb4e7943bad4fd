"""Qwen2-VL and Qwen2.5-VL: Qwen2 with a vision tower for images of any size (arXiv:2409.12191, arXiv:2502.13923)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import base, gqa, pre_norm, swiglu
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("qwen2_vl", "qwen2_5_vl")  # transformers 5.23: modeling_qwen2_vl.py, modeling_qwen2_5_vl.py
HEADED = {
    "conditional_generation": {
        r"^visual\.": "model.visual.",
        r"^model\.(?!language_model\.|visual\.)": "model.language_model.",
    },
    "base": {r"^model\.(?!language_model\.)": "model.language_model."},
}


def spec(c: Config) -> Spec:
    text = c.sub("text_config") or c.as_part("text_config")
    towers = {"vision": families.part(c, "vision_config")}
    layer = Layer(mixer=keys.attention(text, qkv_bias=True), ffn=keys.dense(text))
    heads, windows = ("ForConditionalGeneration", "Model"), keys.sliding_later(text, first=80)
    model = keys.decoder_spec(text, layer, whole=c, heads=heads, parts=towers, windows=windows)
    return model.replace(tied=keys.tied_anywhere(c, text))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    return towers_beside_model(s, base(s, layer_block), visual=families.tower(s, "vision"))
