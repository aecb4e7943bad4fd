"""Qwen3-VL: Qwen3, dense or with experts, and a vision transformer that feeds several layers (arXiv:2511.21631)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, rms_norm, router, stacked, swiglu
from hfcount.parts.composite import joined
from hfcount.parts.vision_qwen import qwen3_vision
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("qwen3_vl", "qwen3_vl_moe")


def spec(c: Config) -> Spec:
    text, eyes = c.part("text_config"), c.part("vision_config", defaults={"deepstack_visual_indexes": [8, 16, 24]})
    routed = c.family.endswith("_moe")
    bias = text.bool("attention_bias", default=False)
    mixer = keys.attention(text, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=None if routed else 128)
    ffn = keys.dense(text)
    layers = (
        keys.sparse_steps(text, mixer, ffn, lambda: keys.moe(text, "moe_intermediate_size"))
        if routed
        else keys.alike(Layer(mixer=mixer, ffn=ffn), keys.layer_count(text))
    )
    deep = {"deepstack": len(eyes.ints("deepstack_visual_indexes"))}
    heads = ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(text, layers, whole=c, heads=heads, vision=keys.qwen3_vision(c), traits=deep)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def routed(m: MoE) -> Block:
        experts = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
        return block(gate=router(d, m), experts=experts)

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=routed(ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return joined(s, base(s, layer), visual=qwen3_vision(s.eyes, s.traits["deepstack"]))
