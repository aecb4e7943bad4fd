"""A.X K1: DeepSeek-V3's layers with a norm behind the experts (A.X K1 technical report)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, mla, network, pre_norm, rms_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("axk1",)  # transformers 5.23: modeling_axk1.py
SPELLINGS = {r"post_mlp_layernorm\.": "mlp.post_mlp_layernorm."}
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.mla(c)
    return keys.decoder_spec(c, keys.networks(c, keys.dense_and_stepped(c), lambda: keys.deepseek_moe(c), mixer))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mlp = network(d, layer, lambda m: shared_moe(d, m, balanced=True))
        last = rms_norm(d) if isinstance(layer.ffn, MoE) else None
        return altered(pre_norm(d, self_attn=mla(d, layer.latent), mlp=mlp), post_mlp_layernorm=last)

    return decoder(s, layer_block)
