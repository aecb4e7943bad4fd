"""Inkling's audio tower: a table with a row for each level of each mel bin, and a norm."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("inkling_audio",)  # transformers 5.23: modeling_inkling.py


def spec(c: Config) -> Spec:
    rows = c.int("n_mel_bins", "num_codebooks") * c.int("mel_vocab_size", "codebook_size")
    width = c.int("text_hidden_size", "hidden_size")
    return keys.encoding(c, (), hidden=width, traits={"rows": rows})


def blueprint(s: Spec) -> Block:
    table, norm = Tensor((s.traits["rows"], s.hidden), component="embedding"), rms_norm(s.hidden)
    if s.place:  # within the whole model the names are those of the release
        return block(encoder=block(weight=table), final_norm=norm)
    return block(embed_audio_tokens=block(embed_audio_tokens=block(weight=table)), norm=norm)
