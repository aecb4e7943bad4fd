"""Marian translation models, with sinusoidal positions and one vocabulary or two (arXiv:1804.00344)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.seq2seq import bart
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block, obsolete

MODEL_TYPES = ("marian",)  # transformers 5.23: modeling_marian.py

_HEADS = {**keys.named(MTModel="conditional_generation"), **keys.named(("Model", "ForCausalLM"))}


class Marian(Sizes):
    decoder_vocab_size: int
    share_encoder_decoder_embeddings: bool


def spec(c: Config) -> Spec[Marian]:
    target = c.int("decoder_vocab_size", default=c.int("vocab_size"))
    shared = c.bool("share_encoder_decoder_embeddings", default=True)
    sizes = Marian.read(c, decoder_vocab_size=target, share_encoder_decoder_embeddings=shared)
    return keys.sequence_to_sequence(c, heads=_HEADS).having(sizes)


def blueprint(s: Spec[Marian]) -> Block:
    # The translation class computes its sinusoids anew; the others store them.
    shape = s.positions or 0, s.hidden
    table = obsolete(*shape) if s.head == "conditional_generation" else Tensor(shape)
    sinusoids = block("embedding", weight=table)
    apart, target = not s.own.share_encoder_decoder_embeddings, s.own.decoder_vocab_size
    return bart(s, first_norm=False, last_norm=False, tables=sinusoids, apart=apart, decoder_vocab=target)
