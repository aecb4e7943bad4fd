"""Canary's decoder: a transformer that reads what a FastConformer heard (arXiv:2406.19674)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.classic import mha
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("canary_decoder",)  # transformers 5.23: modeling_canary.py


def spec(c: Config) -> Spec:
    keys.divides(c, "num_attention_heads", c.int("num_attention_heads"), "hidden_size", c.int("hidden_size"))
    mixer, ffn = keys.attention(c, bias=c.bool("attention_bias")), keys.dense(c, bias=True)
    heads = keys.named(Decoder="base")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), heads=heads, uncounted=keys.ACROSS)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden)

    def layer(one: Layer) -> Block:
        attention = mha(d, one.attention, "o_proj")
        return block(
            self_attn=attention,
            encoder_attn=attention,
            mlp=mlp(d, one.dense.width),
            **dict.fromkeys(("input_layernorm", "post_attention_layernorm", "final_layernorm"), norm),
        )

    table = embedding(s.vocab, d)
    return block(embed_tokens=table, layers=stack(s.layers, layer), norm=norm, embedding_layernorm=norm)
