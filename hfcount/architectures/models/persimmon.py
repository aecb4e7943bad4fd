"""Persimmon 8B: queries, keys and values interleaved by head (https://huggingface.co/adept/persimmon-8b-base)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, pre_norm, stack, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("persimmon",)  # transformers 5.23: modeling_persimmon.py


def spec(c: Config) -> Spec:
    norms = c.bool("qk_layernorm", default=True)
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"))
    return keys.decoder_spec(c, Layer(mixer=mixer.replace(qk_norm=norms), ffn=keys.dense(c, bias=True)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        norm = layer_norm(a.head_dim) if a.qk_norm else None
        attention = block(
            "attention",
            query_key_value=Linear(d, 3 * d, a.qkv_bias),
            dense=Linear(d, d, a.out_bias),
            q_layernorm=norm,
            k_layernorm=norm,
        )
        network = mlp(d, layer.dense.width, layer.dense.bias, "dense_h_to_4h", "dense_4h_to_h")
        return pre_norm(d, layer_norm, self_attn=attention, mlp=network)

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=layer_norm(d))
    return with_head(s, body)
