"""MusicGen's decoders: transformers over several codebooks; the melody's has no cross attention (arXiv:2306.05284)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.seq2seq import bart_layer
from hfcount.spec import Dense, Layer, Sizes, Spec, count, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

# transformers 5.23: modeling_musicgen.py, modeling_musicgen_melody.py
MODEL_TYPES = ("musicgen_decoder", "musicgen_melody_decoder")
IGNORED = ("audio_channels", "scale_embedding", "layerdrop")


class MusicgenDecoder(Sizes):
    """What this architecture alone has."""

    num_codebooks: int = count("n_q")
    cross_attention_hidden_size: int = size(absent=0)


def spec(c: Config) -> Spec[MusicgenDecoder]:
    d, crossed = c.int("hidden_size"), c.family == "musicgen_decoder"
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=False)
    own = MusicgenDecoder.read(c)
    layer, seen = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_dim"))), keys.ACROSS if crossed else ""
    whole = keys.decoder_spec(c, layer, hidden=d, heads=("ForCausalLM", "Model"), uncounted=seen)
    return whole.replace(tied=False).having(own)


def blueprint(s: Spec[MusicgenDecoder]) -> Block:
    d, books = s.hidden, Indices.below(s.own.num_codebooks)
    layers = stack(s.layers, lambda one: bart_layer(d, one, s.family == "musicgen_decoder"))
    tables = Repeat(books, embedding(s.vocab + 1, d))
    body = block(decoder=block(embed_tokens=tables, layers=layers, layer_norm=layer_norm(d)))
    head = Repeat(books, Linear(d, s.vocab, component="lm_head"))
    return body if s.head == "base" else block(model=body, lm_heads=head)
