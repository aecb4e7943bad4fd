"""GLM-4.7-Flash: GLM-4.5's experts with latent attention (arXiv:2508.06471)."""

from hfcount import keys
from hfcount.families.deepseek_v3 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("glm4_moe_lite",)


def spec(c: Config) -> Spec:
    mixer = keys.mla(c)
    first, rest = keys.dense_and_sparse(c, default=1)

    def sparse() -> Layer:
        experts = ("n_routed_experts", "num_local_experts", "num_experts")
        ffn = keys.moe(c, "moe_intermediate_size", experts=experts, shared=("n_shared_experts",))
        return Layer(mixer=mixer, ffn=ffn)

    dense = (first, lambda: Layer(mixer=mixer, ffn=keys.dense(c)))
    return keys.decoder_spec(c, keys.split(c, dense, (rest, sparse)), mtp=keys.mtp(c, sparse))
