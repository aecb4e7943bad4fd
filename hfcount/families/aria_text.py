"""Aria, the language model: experts stacked in one tensor per matrix, beside shared ones (arXiv:2410.05993)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, pre_norm, router, stacked, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("aria_text",)  # transformers 5.23: modeling_aria.py
SPELLINGS = {
    r"mlp\.experts\.fc1\.weight$": "mlp.experts.gate_up_proj",
    r"mlp\.experts\.fc2\.weight$": "mlp.experts.down_proj",
}


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    names = {"experts": ("moe_num_experts",), "active": ("moe_topk",), "shared": ("moe_num_shared_experts",)}
    ffn = keys.moe(c, "intermediate_size", **names).replace(bias=c.bool("mlp_bias", default=False))
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        m = one.moe
        return pre_norm(
            d,
            self_attn=gqa(d, one.attention),
            mlp=block(
                router=router(d, m),
                experts=block(
                    "experts",
                    fc1=block(weight=stacked(m, d, 2 * m.width)),
                    fc2=block(weight=stacked(m, m.width, d)),
                ),
                shared_experts=None if m.shared is None else swiglu(d, m.shared, m.bias),
            ),
        )

    return decoder(s, layer)
