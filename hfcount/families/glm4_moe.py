"""GLM-4.5 to 4.7 with experts: biased queries, balanced experts, layers that predict further (arXiv:2508.06471)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, predicting, rms_norm, shared_moe, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("glm4_moe",)


def spec(c: Config) -> Spec:
    bias, qk_norm = c.bool("attention_bias", default=False), c.bool("use_qk_norm", default=False)
    # The published implementation rounds down where the heads do not share the width evenly.
    width = c.int("hidden_size") // c.int("num_attention_heads")
    mixer = keys.attention(c, qkv_bias=bias, qk_norm=qk_norm, head_dim=width or None)
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)

    def sparse() -> Layer:
        experts = ("n_routed_experts", "num_local_experts", "num_experts")
        ffn = keys.moe(c, "moe_intermediate_size", experts=experts, shared=("n_shared_experts",))
        return Layer(mixer=mixer, ffn=ffn)

    dense = (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c)))
    return keys.decoder_spec(c, keys.split(c, dense, (rest, sparse)), parts=keys.mtp(c, sparse))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        whole = block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn, balanced=True) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )
        return predicting(s, one, whole)

    return decoder(s, layer)
