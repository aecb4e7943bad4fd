"""Whisper: an encoder of spectrograms and a decoder of texts, keys without biases (arXiv:2212.04356)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head, stack
from hfcount.parts.classic import mha, positions
from hfcount.parts.seq2seq import bart_layer
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("whisper",)  # transformers 5.23: modeling_whisper.py

_HEADS = keys.named(("ForConditionalGeneration", "Model", "ForCausalLM"), Encoder="encoder")


def spec(c: Config) -> Spec:
    encoder = families.read(c.as_part(), "whisper_encoder")
    whole = keys.sequence_to_sequence(c, heads=_HEADS, positions=c.int("max_target_positions"), encoder=encoder)
    return whole.but(causal=False, uncounted="") if whole.head == "encoder" else whole


def blueprint(s: Spec) -> Block:
    d, encoder = s.hidden, families.tree(s.parts["encoder"])

    def layer(one: Layer) -> Block:
        attention = Block({**mha(d, one.attention).children, "k_proj": Linear(d, d)}, "attention")
        return Block({**bart_layer(d, one, True).children, "self_attn": attention, "encoder_attn": attention})

    decoder = block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=positions(s),
        layers=stack(s.layers, layer),
        layer_norm=layer_norm(d),
    )
    if s.head == "encoder":
        return encoder
    body = block(encoder=None if s.head == "causal_lm" else encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, "model.decoder.embed_tokens.weight"))
