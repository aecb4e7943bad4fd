"""DeepSeek-V3.2: DeepSeek-V3 with attention to tokens selected by an indexer (arXiv:2512.02556)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, indexer, mla, network, pre_norm, predicting, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("deepseek_v32",)  # transformers 5.23: modeling_deepseek_v32.py
PREDICTORS = ("DeepseekV32MTPModel",)
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer, _ = keys.indexed(c, keys.mla(c))
    places = keys.dense_and_sparse(c, "first_k_dense_replace")
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c, late=True), mixer)
    ahead = keys.mtp(c, lambda: Layer(mixer=mixer, ffn=keys.deepseek_moe(c, late=True)))
    return keys.decoder_spec(c, layers, parts=ahead)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.latent
        body = pre_norm(
            d,
            self_attn=altered(mla(d, a), indexer=indexer(d, a)),
            mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True)),
        )
        return predicting(s, layer, body)

    return decoder(s, layer_block)
