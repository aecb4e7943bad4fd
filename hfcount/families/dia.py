"""Dia: an encoder of bytes before a decoder of the codes of several channels (https://huggingface.co/nari-labs)."""

from hfcount import families, keys
from hfcount.families.dia_encoder import DiaDecoder
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("dia",)  # transformers 5.23: modeling_dia.py


def spec(c: Config) -> Spec:
    text, parts = families.part(c, "decoder_config"), {"encoder": families.part(c, "encoder_config")}
    channels = text.own.num_channels if isinstance(text.own, DiaDecoder) else None
    delays = c.length("delay_pattern")
    if delays is not None and delays != channels:
        raise c.error(f"delay_pattern has {delays:,} entries, and num_channels is {channels}.", "delay_pattern")
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, parts, key="decoder_config", heads=heads).replace(tied=False)


def blueprint(s: Spec) -> Block:
    body = block(encoder=families.tree(s.parts["encoder"]), decoder=families.base(s))
    if s.head == "base":
        return body
    channels = s.parts["text"].sizes(DiaDecoder).num_channels
    return block(model=body, logits_dense=Linear(s.hidden, channels * s.vocab, component="lm_head"))
