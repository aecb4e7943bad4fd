"""Granite Speech 5 as a recogniser: its head is the one that its encoder guesses with midway (model card)."""

from hfcount import families, keys
from hfcount.families.granite_speech5_encoder import GraniteSpeech5Encoder
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Tied, block, obsolete

MODEL_TYPES = ("granite_speech5_ctc",)  # transformers 5.23: modeling_granite_speech5.py
IGNORED = ("ctc_zero_infinity",)


def spec(c: Config) -> Spec:
    encoder, words = families.part(c, "encoder_config"), c.int("vocab_size")
    guessed = encoder.own.vocab_size if isinstance(encoder.own, GraniteSpeech5Encoder) else words
    if guessed != words:
        said = f"vocab_size is {words:,} and that of encoder_config {guessed:,}."
        raise c.error(said, "vocab_size", "Correct one of them.", observed=int(words))
    heads, parts = keys.named(ForCTC="ctc"), {"encoder": encoder}
    return keys.decoder_spec(c, [], tied=True, hidden=encoder.hidden, heads=heads, parts=parts).replace(causal=False)


def blueprint(s: Spec) -> Block:
    tied = (Tied("encoder.out.weight", (s.vocab, s.hidden), "lm_head"), block("lm_head", bias=obsolete(s.vocab)))
    head = tied if s.tied else Linear(s.hidden, s.vocab, True, "lm_head")
    return block(encoder=families.tree(s.parts["encoder"]), ctc_head=head)
