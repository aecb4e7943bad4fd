"""Laguna: gated attention with its own number of heads in each layer, balanced experts (Laguna model card)."""

from hfcount import keys
from hfcount.errors import ConfigError
from hfcount.mapper import Config
from hfcount.parts import decoder, experts, gqa, rms_norm, shared_moe, swiglu
from hfcount.parts.variants import altered
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("laguna",)


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    usual = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=width)

    def sparse() -> Layer:
        routed = keys.moe(c, "moe_intermediate_size")
        return Layer(ffn=routed.but(shared=c.int("shared_expert_intermediate_size")))

    mixers, (first, rest) = keys.own_heads(c, usual), keys.dense_and_sparse(c, default=1)
    networks = keys.split(c, (first, lambda: Layer(ffn=keys.dense(c))), (rest, sparse))
    layers, traits = keys.crossed(networks, mixers), {"gate_per_head": int(_per_head(c))}
    return keys.decoder_spec(c, layers, traits=traits, windows=keys.sliding(c, default=512))


def _per_head(c: Config) -> bool:
    try:
        return c.bool("gating", default=True)
    except ConfigError:
        return c.str("gating") == "per-head"


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        balance = block("router", e_score_correction_bias=Tensor((m.experts,)))
        routed = experts(m, swiglu(d, m.width, component="experts"))
        return altered(shared_moe(d, m, "shared_expert"), experts=(routed, balance))

    def layer(one: Layer) -> Block:
        ffn, a = one.ffn, one.attention
        gate = Linear(d, a.heads if s.traits["gate_per_head"] else a.heads * a.head_dim)
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), g_proj=gate),
            post_attention_layernorm=rms_norm(d),
            mlp=sparse(ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
