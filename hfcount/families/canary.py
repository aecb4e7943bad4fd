"""Canary: a FastConformer before a transformer that writes what was said (arXiv:2406.19674)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("canary",)  # transformers 5.23: modeling_canary.py


def spec(c: Config) -> Spec:
    text, parts = families.part(c, "decoder_config"), {"encoder": families.part(c, "encoder_config")}
    c.int("vocab_size", default=None)  # the decoder's
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, parts, key="decoder_config", tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    body = block(encoder=families.tree(s.parts["encoder"]), decoder=families.base(s))
    table = "model.decoder.embed_tokens.weight"
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, table, bias=True))
