"""GLM-5: latent attention to tokens selected by an indexer, which some layers share (arXiv:2603.12201)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, indexer, mla, network, pre_norm, predicting, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("glm_moe_dsa",)  # transformers 5.23: modeling_glm_moe_dsa.py
PREDICTORS = ("DeepseekV32MTPModel", "GlmMoeDsaForCausalLMNextN")
MERGED = packed()
# vLLM 0.33.0: rotary positions (models/deepseek_v32/attention.py:244), and when a draft selects tokens anew
# (v1/spec_decode/llm_base_proposer.py:1604).
IGNORED = ("indexer_rope_interleave", "index_share_for_mtp_iteration")


def spec(c: Config) -> Spec:
    mixer, follower = keys.indexed(c, keys.mla(c))
    places = keys.dense_and_sparse(c, "first_k_dense_replace")
    networks = keys.networks(c, places, lambda: keys.deepseek_moe(c, late=True))
    layers = keys.combined(networks, keys.by_place(c, keys.indexing(c), mixer, follower))
    return keys.decoder_spec(
        c, layers, parts=keys.mtp(c, lambda: Layer(mixer=mixer, ffn=keys.deepseek_moe(c, late=True)))
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.latent
        body = pre_norm(
            d,
            self_attn=altered(mla(d, a), indexer=indexer(d, a) if a.index_heads else None),
            mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True)),
        )
        return predicting(s, layer, body, tables=False)

    return decoder(s, layer_block)
