"""The decoder of TrOCR, which reads an image encoder's output (arXiv:2109.10282)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import generative, mha, positions
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block, obsolete

MODEL_TYPES = ("trocr",)  # transformers 5.23: modeling_trocr.py


class Trocr(Sizes):
    layernorm_embedding: bool = flag(absent=True)


def spec(c: Config) -> Spec[Trocr]:
    d = keys.dim("d", c.int("d_model", "hidden_size"))
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("decoder_attention_heads", "num_attention_heads")),
        ffn=Dense(width=c.int("decoder_ffn_dim"), bias=True),
        memory=c.int("cross_attention_hidden_size", default=d),
    )
    layers = keys.uniform(layer, keys.layer_count(c, "decoder_layers", "num_hidden_layers"))
    learned = c.bool("use_learned_position_embeddings", default=True)
    # The first two rows of the table of positions are reserved for padding.
    rows = c.int("max_position_embeddings") + 2 if learned else None
    sizes = Trocr.read(c)
    heads, why = ("ForCausalLM",), keys.ACROSS
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, tied=True, heads=heads, uncounted=why).having(sizes)


def blueprint(s: Spec[Trocr]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        across = mha(d, layer.attention, memory=layer.memory)
        return Block({**bart_layer(d, layer, crossed=True).children, "encoder_attn": across})

    decoder = block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=_computed() if s.positions is None else positions(s),
        layernorm_embedding=layer_norm(d) if s.own.layernorm_embedding else None,
        layers=stack(s.layers, layer_block),
    )
    return generative(s, "model", block(decoder=decoder), "decoder.embed_tokens", head="output_projection")


def _computed() -> Block:
    """Positions that are computed, of which version 4 stored a number (transformers 4.57.1, modeling_trocr.py:93)."""
    return block("embedding", _float_tensor=obsolete(1))
