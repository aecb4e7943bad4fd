"""Inkling's audio tower: a table with a row for each level of each mel bin, and a norm."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("inkling_audio",)  # transformers 5.23: modeling_inkling.py


class InklingAudio(Sizes):
    """What this architecture alone has."""

    rows: int


def spec(c: Config) -> Spec[InklingAudio]:
    rows = c.int("n_mel_bins", "num_codebooks") * c.int("mel_vocab_size", "codebook_size")
    width = c.int("text_hidden_size", "hidden_size")
    return keys.encoding(c, (), hidden=width).having(InklingAudio.read(c, rows=rows))


def blueprint(s: Spec[InklingAudio]) -> Block:
    table, norm = Tensor((s.own.rows, s.hidden), component="embedding"), rms_norm(s.hidden)
    if s.place:  # within the whole model the names are those of the release
        return block(encoder=block(weight=table), final_norm=norm)
    return block(embed_audio_tokens=block(embed_audio_tokens=block(weight=table)), norm=norm)
