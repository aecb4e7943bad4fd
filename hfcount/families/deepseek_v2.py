"""DeepSeek-V2 and V2-Lite: latent attention, and shared beside routed experts (arXiv:2405.04434)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, mla, rms_norm, shared_moe, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("deepseek_v2",)


def spec(c: Config) -> Spec:
    mixer, bias = keys.mla(c), c.bool("mlp_bias", default=False)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)

    def sparse() -> Layer:
        routed = keys.moe(
            c,
            "moe_intermediate_size",
            experts=("n_routed_experts", "num_experts"),
            # Without a number to choose, a token passes all experts.
            active=("n_routed_experts",) if c.is_null("num_experts_per_tok") else ("num_experts_per_tok",),
            shared=("n_shared_experts",),
        )
        return Layer(mixer=mixer, ffn=routed.but(bias=bias))

    dense = (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)))
    return keys.decoder_spec(c, keys.split(c, dense, (rest, sparse)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=mla(d, one.latent),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn, bias=ffn.bias)
            if isinstance(ffn, MoE)
            else swiglu(d, one.dense.width, one.dense.bias),
        )

    return decoder(s, layer)
