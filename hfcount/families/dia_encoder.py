"""Dia's halves: an encoder of bytes, and a decoder of the codes of several channels (https://huggingface.co/nari-labs)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, fused_swiglu, rms_norm, stack
from hfcount.parts.classic import mha
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("dia_encoder", "dia_decoder")  # transformers 5.23: modeling_dia.py


def spec(c: Config) -> Spec:
    encoder, traits = c.family == "dia_encoder", dict[str, int]()
    if not encoder:
        for key, letter in _ACROSS.items():
            traits[key] = keys.sized(letter, c.int(key))
    heads = keys.named(Encoder="base") if encoder else keys.named(Decoder="base")
    whole = keys.decoder_spec(c, Layer(mixer=keys.attention(c), ffn=keys.dense(c)), heads=heads, traits=traits)
    return whole.but(causal=not encoder, uncounted="" if encoder else keys.ACROSS)


_ACROSS = {
    "cross_num_attention_heads": "h_x",
    "cross_num_key_value_heads": "h_xkv",
    "cross_head_dim": "h_xd",
    "cross_hidden_size": "d_x",
    "num_channels": "n_c",
}


def blueprint(s: Spec) -> Block:
    d, of, norm = s.hidden, s.traits, rms_norm(s.hidden)
    encoder = s.family == "dia_encoder"

    def layer(one: Layer) -> Block:
        attention, network = mha(d, one.attention, "o_proj"), fused_swiglu(d, one.dense.width)
        own = block(self_attention=attention, mlp=network, pre_sa_norm=norm)
        if encoder:
            return Block({**own.children, "post_sa_norm": norm})
        crossing = _crossing(s)
        return Block({**own.children, "cross_attention": crossing, "pre_ca_norm": norm, "pre_mlp_norm": norm})

    layers = stack(s.layers, layer)
    if encoder:
        return block(embedding=embedding(s.vocab, d), layers=layers, norm=norm)
    table = block(embed=embedding(of["num_channels"] * s.vocab, d))
    return block(embeddings=table, layers=layers, norm=norm)


def _crossing(s: Spec) -> Block:
    d, heard, width = s.hidden, s.traits["cross_hidden_size"], s.traits["cross_head_dim"]
    queries, kept = s.traits["cross_num_attention_heads"] * width, s.traits["cross_num_key_value_heads"] * width
    into, out = Linear(heard, kept), Linear(queries, d)
    return block("attention", q_proj=Linear(d, queries), k_proj=into, v_proj=into, o_proj=out)
