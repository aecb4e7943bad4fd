"""Splinter: BERT with a head that selects spans by the words of a question (arXiv:2101.00438)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.encoders import bert_base
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("splinter",)  # transformers 5.23: modeling_splinter.py

_HEADS = keys.named(("ForQuestionAnswering", "ForPreTraining", "Model"))


def spec(c: Config) -> Spec:
    return keys.encoder(c, heads=_HEADS, decoding=False)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    transform = block(dense=Linear(d, d, True), LayerNorm=layer_norm(d))
    transforms = {f"{what}_transform": transform for what in ("query_start", "query_end", "start", "end")}
    ends = {f"{what}_classifier": Linear(d, d) for what in ("start", "end")}
    spans = block(splinter_qass=Block({**transforms, **ends}, "other"))
    return headed(s, "splinter", bert_base(s), question_answering=spans, pretraining=spans)
