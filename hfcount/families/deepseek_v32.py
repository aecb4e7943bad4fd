"""DeepSeek-V3.2: DeepSeek-V3 with attention to the tokens that an indexer picks (arXiv:2512.02556)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, indexer, mla, predicting, rms_norm, shared_moe, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("deepseek_v32",)


def spec(c: Config) -> Spec:
    mixer, _ = keys.indexed(c, keys.mla(c))
    first, rest = keys.dense_and_sparse(c, "first_k_dense_replace")

    def sparse() -> Layer:
        experts = ("n_routed_experts", "num_local_experts", "num_experts")
        ffn = keys.moe(c, "moe_intermediate_size", experts=experts, shared=("n_shared_experts",))
        return Layer(mixer=mixer, ffn=ffn)

    dense = (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c)))
    return keys.decoder_spec(c, keys.split(c, dense, (rest, sparse)), parts=keys.mtp(c, sparse))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        ffn, a = one.ffn, one.latent
        whole = block(
            input_layernorm=rms_norm(d),
            self_attn=Block({**mla(d, a).children, "indexer": indexer(d, a)}, "attention"),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, ffn, balanced=True) if isinstance(ffn, MoE) else swiglu(d, one.dense.width),
        )
        return predicting(s, one, whole)

    return decoder(s, layer)
