"""SmallThinker: experts in every layer, chosen before attention, and sliding windows in some (arXiv:2507.20984)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm
from hfcount.architectures.layers.ffn import experts, router
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_smallthinker.py of PowerInfer/SmallThinker-4BA0.6B-Instruct, and configuration_smallthinker.py there
MODEL_TYPES = ("smallthinker",)
CLASSES = ("SmallThinkerForCausalLM", "SmallThinkerModel")
IGNORED = ("model_name", "moe_primary_router_apply_softmax", "rope_layout")

_ABSENT = {
    "vocab_size": 151936,
    "hidden_size": 1536,
    "num_hidden_layers": 32,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "moe_num_primary_experts": 32,
    "moe_num_active_primary_experts": 4,
    "moe_ffn_hidden_size": 768,
    "sliding_window_size": 4096,
}


def spec(c: Config) -> Spec:
    c.assuming(_ABSENT)
    routed = keys.moe(
        c,
        "moe_ffn_hidden_size",
        experts=("moe_num_primary_experts",),
        active=("moe_num_active_primary_experts",),
    )
    heads, shared = c.int("num_attention_heads"), c.int("num_key_value_heads")
    if heads % shared:
        text = f"num_attention_heads {heads:,} is not a multiple of num_key_value_heads {shared:,}."
        raise c.error("not-divisible", text, "num_key_value_heads", "Correct one of them.")
    near = Indices.below(0)
    if layout := c.ints("sliding_window_layout"):
        near = keys.listing(c, "sliding_window_layout", layout, 1, 0)[0]
    windows = keys.within(near, c.int("sliding_window_size"))
    return keys.decoder_spec(
        c,
        Layer(mixer=keys.attention(c), ffn=routed),
        tied=True,
        windows=windows,
        heads=("ForCausalLM", "Model"),
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m = layer.moe
        expert = block("experts", up=Linear(d, m.width), gate=Linear(d, m.width), down=Linear(m.width, d))
        sparse = block(primary_router=router(d, m), experts=experts(m, expert))
        return pre_norm(d, self_attn=gqa(d, layer.attention), block_sparse_moe=sparse)

    return decoder(s, layer_block)
