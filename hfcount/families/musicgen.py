"""MusicGen: a text encoder, a decoder of codebooks, and the codec whose codes these are (arXiv:2306.05284)."""

from hfcount import families, keys
from hfcount.families.musicgen_decoder import MusicgenDecoder
from hfcount.mapper import Config
from hfcount.parts.composite import rebased
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("musicgen", "musicgen_melody")  # transformers 5.23: modeling_musicgen.py, modeling_musicgen_melody.py
IGNORED = ("chroma_length",)


class Melody(Sizes):
    """What is told of a melody: so many pitches."""

    num_chroma: int = size("n_c")


def spec(c: Config) -> Spec[Melody | None]:
    text = families.part(c, "decoder").replace(head="causal_lm")
    read, codec = families.part(c, "text_encoder"), families.part(c, "audio_encoder")
    read = read.replace(head="encoder" if "encoder" in read.heads else "base")
    own = Melody.read(c) if c.family == "musicgen_melody" else None
    parts = {"encoder": read, "audio": codec}
    heads = ("ForConditionalGeneration",)
    return keys.composite(c, text, parts, key="decoder", heads=heads).replace(tied=False).having(own)


def blueprint(s: Spec[Melody | None]) -> Block:
    d, read, text = s.hidden, s.parts["encoder"], s.parts["text"]
    chroma = s.own.num_chroma if s.own else None
    apart = read.hidden != d and not (isinstance(text.own, MusicgenDecoder) and text.own.cross_attention_hidden_size)
    return block(
        text_encoder=rebased(families.tree(read), "text_encoder"),
        audio_encoder=families.tower(s, "audio"),
        decoder=families.tree(text),
        enc_to_dec_proj=Linear(read.hidden, d, True, "projector") if apart else None,
        audio_enc_to_dec_proj=Linear(chroma, d, True, "projector") if chroma and chroma != d else None,
    )
