"""Baichuan and Baichuan 2: Llama with queries, keys and values in one projection (arXiv:2309.10305)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, fused_qkv, inv_freq, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("baichuan",)  # modeling_baichuan.py of baichuan-inc/Baichuan2-7B-Chat


def spec(c: Config) -> Spec:
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"), bias=False)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        attention = block("attention", W_pack=fused_qkv(d, a), o_proj=Linear(d, d), rotary_emb=inv_freq(a.head_dim))
        return block(
            self_attn=attention,
            mlp=swiglu(d, layer.dense.width),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
