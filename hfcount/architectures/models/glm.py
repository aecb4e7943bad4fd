"""GLM-4-9B: gate and up in one projection, biases on queries, keys and values (arXiv:2406.12793)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, fused_swiglu, gqa, pre_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("glm",)  # transformers 5.23: modeling_glm.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qkv_bias=c.bool("attention_bias", default=True), head_dim=128)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=fused_swiglu(d, layer.dense.width))

    return decoder(s, layer_block)
