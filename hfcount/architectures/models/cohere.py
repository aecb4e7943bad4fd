"""Command R: attention and feed-forward side by side behind one norm (https://huggingface.co/CohereLabs/c4ai-command-r-v01)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("cohere",)  # transformers 5.23: modeling_cohere.py


def spec(c: Config) -> Spec:
    bias, norms = c.bool("attention_bias", default=False), c.bool("use_qk_norm", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=norms)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, attention = layer.attention, gqa(d, layer.attention)
        if a.qk_norm:  # each head has weights of its own
            norms = [block("norm", weight=Tensor((heads, a.head_dim))) for heads in (a.heads, a.kv_heads)]
            attention = altered(attention, q_norm=norms[0], k_norm=norms[1])
        return block(input_layernorm=rms_norm(d), self_attn=attention, mlp=swiglu(d, layer.dense.width))

    return decoder(s, layer_block)
