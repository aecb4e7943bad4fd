"""K-EXAONE: EXAONE 4 with balanced experts beside shared ones (arXiv:2601.01739)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, correction_bias, decoder, gqa, network, pre_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("exaone_moe",)  # transformers 5.23: modeling_exaone_moe.py
SPELLINGS = {r"mlp\.e_score_correction_bias$": "mlp.gate.e_score_correction_bias"}
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qk_norm=True)
    places = keys.dense_and_sparse(c, "first_k_dense_replace", default=1)

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", shared=("num_shared_experts",))

    layers = keys.networks(c, places, experts, mixer)
    return keys.decoder_spec(c, layers, windows=keys.sliding(c, lambda: keys.patterned(c), default=4096))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return altered(shared_moe(d, m), e_score_correction_bias=correction_bias(m))

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, moe))

    return decoder(s, layer_block)
