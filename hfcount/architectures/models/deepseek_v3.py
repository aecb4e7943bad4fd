"""DeepSeek-V3, R1 and Kimi K2: experts balanced by a bias, layers that predict further tokens (arXiv:2412.19437)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, mla, network, pre_norm, predicting, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("deepseek_v3", "kimi_k2")  # transformers 5.23: modeling_deepseek_v3.py
CLASSES = ("DeepseekV3BidirectionalModel",)
PREDICTORS = ("DeepSeekMTPModel",)
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.mla(c)
    places = keys.dense_and_sparse(c, "first_k_dense_replace", listed=None)
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c), mixer)
    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=keys.deepseek_moe(c)))
    return keys.decoder_spec(c, layers, parts=ahead)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        body = pre_norm(
            d, self_attn=mla(d, layer.latent), mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True))
        )
        return predicting(s, layer, body)

    return decoder(s, layer_block)
