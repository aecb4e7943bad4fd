"""ERNIE 2 and 3: BERT with a table of task types where the config asks for one (arXiv:1907.12412)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("ernie",)  # transformers 5.23: modeling_ernie.py

_HEADS = ("ForCausalLM", *keys.ENCODER_HEADS, "ForPreTraining", "ForNextSentencePrediction")


class Ernie(Sizes):
    task_type_vocab_size: int


def spec(c: Config) -> Spec[Ernie]:
    tasks = c.int("task_type_vocab_size", default=3) if c.bool("use_task_id", default=False) else 0
    return keys.encoder(c, heads=_HEADS).having(Ernie.read(c, task_type_vocab_size=tasks))


def blueprint(s: Spec[Ernie]) -> Block:
    tasks = s.own.task_type_vocab_size
    more = block(task_type_embeddings=embedding(tasks, s.hidden) if tasks else None)
    return bert_heads(s, "ernie", bert_base(s, embeddings=bert_embeddings(s, more=more), pooler=pooler(s)))
