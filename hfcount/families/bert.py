"""BERT, and encoders built like it (arXiv:1810.04805)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.encoders import bert_base, bert_heads, pooler
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("bert",)  # transformers 5.23: modeling_bert.py

_HEADS = ("LMHeadModel", *keys.ENCODER_HEADS, "ForPreTraining", "ForNextSentencePrediction")


def spec(c: Config) -> Spec:
    return keys.encoder(c, heads=[head for head in _HEADS if head != "ForCausalLM"])


def blueprint(s: Spec) -> Block:
    return bert_heads(s, "bert", bert_base(s, pooler=pooler(s)))
