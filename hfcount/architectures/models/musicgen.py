"""MusicGen: a text encoder, a decoder of codebooks, and the codec whose codes these are (arXiv:2306.05284)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("musicgen", "musicgen_melody")  # transformers 5.23: modeling_musicgen.py, modeling_musicgen_melody.py
IGNORED = ("chroma_length",)


class Melody(Sizes):
    """What is told of a melody: so many pitches."""

    num_chroma: int = size("n_c")


def spec(c: Config) -> Spec[Melody | None]:
    text = families.part(c, "decoder").replace(head="causal_lm")
    read, codec = families.part(c, "text_encoder"), families.part(c, "audio_encoder")
    read = read.replace(head="encoder" if "encoder" in read.heads else "base")
    sizes = Melody.read(c) if c.family == "musicgen_melody" else None
    parts = {"encoder": read, "audio": codec}
    heads = ("ForConditionalGeneration",)
    return keys.composite(c, text, parts, key="decoder", heads=heads).replace(tied=False).having(sizes)


def blueprint(s: Spec[Melody | None]) -> Block:
    d, read, text = s.hidden, s.part("encoder"), s.part("text")
    chroma = s.own.num_chroma if s.own else None
    apart = read.hidden != d and not (isinstance(text.own, MusicgenDecoder) and text.own.cross_attention_hidden_size)
    return block(
        text_encoder=rebased(families.tree(read), "text_encoder"),
        audio_encoder=families.tower(s, "audio"),
        decoder=families.tree(text),
        enc_to_dec_proj=Linear(read.hidden, d, True, "projector") if apart else None,
        audio_enc_to_dec_proj=Linear(chroma, d, True, "projector") if chroma and chroma != d else None,
    )


class MusicgenDecoder(Sizes):
    num_codebooks: int = count("n_q")
    cross_attention_hidden_size: int = size(absent=0)


def decoder_spec(c: Config) -> Spec[MusicgenDecoder]:
    """MusicGen's decoders: transformers over several codebooks; the melody's has no cross attention."""
    d, crossed = c.int("hidden_size"), c.family == "musicgen_decoder"
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=False)
    sizes = MusicgenDecoder.read(c)
    layer, uncounted = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_dim"))), keys.ACROSS if crossed else ""
    model = keys.decoder_spec(c, layer, hidden=d, heads=("ForCausalLM", "Model"), uncounted=uncounted)
    return model.replace(tied=False).having(sizes)


def decoder_blueprint(s: Spec[MusicgenDecoder]) -> Block:
    d, books = s.hidden, Indices.below(s.own.num_codebooks)
    layers = stack(s.layers, lambda layer: bart_layer(d, layer, s.family == "musicgen_decoder"))
    tables = Repeat(books, embedding(s.vocab + 1, d))
    body = block(decoder=block(embed_tokens=tables, layers=layers, layer_norm=layer_norm(d)))
    head = Repeat(books, Linear(d, s.vocab, component="lm_head"))
    return body if s.head == "base" else block(model=body, lm_heads=head)


PARTS = (
    families.Family(
        ("musicgen_decoder", "musicgen_melody_decoder"),
        decoder_spec,
        decoder_blueprint,
        ignored=("audio_channels", "scale_embedding", "layerdrop"),
    ),
)
