"""dots.llm1: normalised queries and keys, balanced experts beside shared ones (arXiv:2506.05767)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, shared_moe, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("dots1",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)
    if c.is_null("n_routed_experts"):  # a config that says there are no experts
        first, rest = Indices.below(keys.layer_count(c)), Indices.below(0)

    def sparse() -> Layer:
        experts = ("n_routed_experts", "num_local_experts", "num_experts")
        ffn = keys.moe(c, "moe_intermediate_size", experts=experts, shared=("n_shared_experts",))
        return Layer(mixer=mixer, ffn=ffn)

    layers = keys.split(c, (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c))), (rest, sparse))
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, lambda: keys.later(c, 62), 4096))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn, balanced=True) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )

    return decoder(s, layer)
