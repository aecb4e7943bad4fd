"""K-EXAONE: EXAONE 4 with balanced experts beside shared ones (arXiv:2601.01739)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    correction_bias,
    decoder,
    gqa,
    network,
    pre_norm,
    shared_moe,
    with_draft,
)
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block

# transformers 5.23: modeling_exaone_moe.py
# and, for the layers that predict further tokens, exaone_moe_mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("exaone_moe",)
PREDICTORS = ("ExaoneMoeMTP", "ExaoneMoEForCausalLMMTP")
SPELLINGS = {r"mlp\.e_score_correction_bias$": "mlp.gate.e_score_correction_bias"}
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qk_norm=True)
    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", shared=("num_shared_experts",))

    layers = keys.networks(c, places, experts, mixer)
    windows = keys.sliding(c, lambda: keys.patterned(c), default=4096)
    ahead = keys.drafts(c, "num_nextn_predict_layers", Layer(mixer=mixer, ffn=keys.dense(c)))
    return keys.decoder_spec(c, layers, windows=windows, parts=ahead)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return altered(shared_moe(d, m), e_score_correction_bias=correction_bias(m))

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, moe))

    return with_draft(s, lambda proper: decoder(proper, layer_block), layer_block)
