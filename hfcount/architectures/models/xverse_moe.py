"""XVERSE-MoE: routed experts and shared ones in every layer of LLaMA (card of xverse/XVERSE-MoE-A4.2B)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, shared_moe
from hfcount.architectures.layers.ffn import router
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

# xverse_moe.py of sgl-project/sglang 0.5.23; configs are of type xverse
MODEL_TYPES = ("xverse_moe",)
CLASSES = ("XverseMoeForCausalLM",)
RETYPED = {"xverse": ("moe_top_k", None, "xverse_moe")}


def spec(c: Config) -> Spec:
    experts = keys.moe(
        c, "intermediate_size", experts=("num_experts",), active=("moe_top_k",), shared=("num_shared_experts",)
    )
    mixer = keys.attention(c, bias=c.bool("bias", default=False), alone=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=experts), heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        experts = altered(shared_moe(d, layer.moe), gate=None, router=router(d, layer.moe))
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=experts)

    return decoder(s, layer_block)
