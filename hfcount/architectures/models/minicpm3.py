"""MiniCPM3: latent attention in a dense model (arXiv:2404.06395)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, mla, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("minicpm3",)  # transformers 5.23: modeling_minicpm3.py
IGNORED = ("dim_model_base", "scale_emb")


def spec(c: Config) -> Spec:
    share = c.int("hidden_size") // c.int("num_attention_heads")
    mixer = keys.mla(c, value_dim=share or None)
    return keys.decoder_spec(
        c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))), tied=True
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=mla(d, layer.latent), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    return decoder(s, layer_block)
