"""Hunyuan, dense: queries and keys normalised per head (https://huggingface.co/tencent/Hunyuan-7B-Instruct)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

# transformers 5.23: modeling_hunyuan_v1_dense.py, modeling_hunyuan_vl.py
MODEL_TYPES = ("hunyuan_v1_dense", "hunyuan_vl_text")


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention, norms=("query_layernorm", "key_layernorm")),
            mlp=swiglu(d, layer.dense.width),
        )

    return decoder(s, layer_block)
