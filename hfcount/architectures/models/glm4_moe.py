"""GLM-4.5 to 4.7 with experts: biased queries, balanced experts, layers that predict further (arXiv:2508.06471)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, network, pre_norm, predicting, shared_moe, stacked
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("glm4_moe", "glm4v_moe_text")  # transformers 5.23: modeling_glm4_moe.py, modeling_glm4v_moe.py
PREDICTORS = ("Glm4MoeMTPModel", "Glm4MoeForCausalLMNextN")
MERGED = packed()


def spec(c: Config) -> Spec:
    bias, qk_norm = c.bool("attention_bias", default=False), c.bool("use_qk_norm", default=False)
    # The published implementation rounds down where the heads do not share the width evenly.
    width = c.int("hidden_size") // c.int("num_attention_heads")
    mixer = keys.attention(c, qkv_bias=bias, qk_norm=qk_norm, head_dim=width or None)
    places = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c), mixer)
    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=keys.deepseek_moe(c)))
    return keys.decoder_spec(c, layers, parts=ahead)


def blueprint(s: Spec) -> Block:
    d, apart = s.hidden, s.family != "glm4v_moe_text"

    def routed(m: MoE) -> Block:
        usual = shared_moe(d, m, balanced=True)
        packed_ = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
        return usual if apart else altered(usual, experts=packed_)

    def layer_block(layer: Layer) -> Block:
        body = pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, routed))
        return predicting(s, layer, body)

    return decoder(s, layer_block)
