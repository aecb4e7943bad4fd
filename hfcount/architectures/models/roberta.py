"""RoBERTa, CamemBERT and XLM-R, which are built alike (arXiv:1907.11692, arXiv:1911.02116)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.encoders import bert_base, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

# transformers 5.23: modeling_roberta.py, modeling_camembert.py, modeling_xlm_roberta.py
MODEL_TYPES = ("roberta", "camembert", "xlm-roberta")
CLASSES = ("BgeM3EmbeddingModel",)
RETYPED = {"xlm-roberta": ("position_embedding_type", "rotary", "jina_xlm_roberta")}


def spec(c: Config) -> Spec:
    return keys.encoder(c)


def blueprint(s: Spec) -> Block:
    return roberta_heads(s, "roberta", bert_base(s, pooler=pooler(s, heads=("base", "multiple_choice"))))
