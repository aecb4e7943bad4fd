"""DeepSeek-V2 and V2-Lite: latent attention, and shared beside routed experts (arXiv:2405.04434)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, mla, network, pre_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("deepseek_v2",)  # transformers 5.23: modeling_deepseek_v2.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer, bias = keys.mla(c), c.bool("mlp_bias", default=False)
    places = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)

    def experts() -> MoE:
        return keys.deepseek_moe(c).replace(bias=bias)

    return keys.decoder_spec(c, keys.networks(c, places, experts, mixer, bias=bias))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d, self_attn=mla(d, layer.latent), mlp=network(d, layer, lambda m: shared_moe(d, m, bias=m.bias))
        )

    return decoder(s, layer_block)
