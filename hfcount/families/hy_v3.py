"""Hunyuan 3: normalised queries and keys, balanced experts beside shared ones (Hy3 model card)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import correction_bias, decoder, experts, gqa, rms_norm, router, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("hy_v3",)


def spec(c: Config) -> Spec:
    bias, wide = c.bool("attention_bias", default=False), c.bool("mlp_bias", default=False)
    width = None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=width)
    first, rest = keys.dense_and_sparse(c, default=1)

    def sparse() -> Layer:
        ffn = keys.moe(c, "moe_intermediate_size", shared=("num_shared_experts",))
        # A shared width of zero falls back to the dense one in the published implementation.
        return Layer(mixer=mixer, ffn=ffn.but(bias=wide, shared=ffn.shared or c.int("intermediate_size")))

    dense = (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c, bias=wide)))
    return keys.decoder_spec(c, keys.split(c, dense, (rest, sparse)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return block(
            router=block(gate=router(d, m)),
            expert_bias=correction_bias(m),
            experts=experts(m, swiglu(d, m.width, component="experts")),
            shared_mlp=None if m.shared is None else swiglu(d, m.shared, m.bias),
        )

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=moe(ffn) if isinstance(ffn, MoE) else swiglu(d, one.dense.width, one.dense.bias),
        )

    return decoder(s, layer)
