"""Omnilingual ASR as a recogniser: its encoder and a head over the characters of all languages (arXiv:2511.09690)."""

from hfcount.architectures import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("omniasr_ctc",)  # transformers 5.24: modeling_omniasr_ctc.py
IGNORED = ("ctc_zero_infinity",)


def spec(c: Config) -> Spec:
    encoder = families.part(c, "audio_config")
    heads = {**keys.named(("Model",)), **keys.named(ForCTC="ctc")}
    model = keys.decoder_spec(c, [], hidden=encoder.hidden, heads=heads, parts={"audio": encoder})
    return model.replace(causal=False, tied=False)


def blueprint(s: Spec) -> Block:
    body = block(audio_tower=families.tree(s.part("audio")))
    if s.head == "base":
        return body
    return block(ctc_head=Linear(s.hidden, s.vocab, True, "lm_head"), model=body)
