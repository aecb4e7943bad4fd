"""Qwen3-VL: Qwen3, dense or with experts, and a vision transformer that feeds several layers (arXiv:2511.21631)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import base, gqa, network, pre_norm, router, stacked
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_qwen3_vl.py, modeling_qwen3_vl_moe.py
MODEL_TYPES = ("qwen3_vl", "qwen3_vl_moe", "qwen3_vl_moe_text")
TRANSPOSED = ("mlp.experts.gate_up_proj", "mlp.experts.down_proj")


def spec(c: Config) -> Spec:
    alone, routed = c.family.endswith("_text"), "_moe" in c.family
    text = c if alone else c.part("text_config")
    bias = text.bool("attention_bias", default=False)
    mixer = keys.attention(text, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=None if routed else 128)
    ffn = keys.dense(text)
    layers = (
        keys.sparse_steps(text, mixer, ffn, lambda: keys.moe(text, "moe_intermediate_size"))
        if routed
        else keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(text))
    )
    if alone:
        return keys.decoder_spec(c, layers, heads=("Model",))
    towers = {"vision": families.part(c, "vision_config")}
    model = keys.decoder_spec(text, layers, whole=c, heads=("ForConditionalGeneration", "Model"), parts=towers)
    # The class of its text_config ties by default, and that of the whole model does not.
    return model.replace(tied=c.bool("tie_word_embeddings", default=False)) if routed else model


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def routed(m: MoE) -> Block:
        experts = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
        return block(gate=router(d, m), experts=experts)

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, routed))

    body = base(s, layer_block)
    return towers_in_model(s, body, visual=families.tower(s, "vision")) if "vision" in s.parts else body
