"""RoCBert: BERT that also reads how Chinese characters sound and look (doi:10.18653/v1/2022.acl-long.65)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.encoders import (
    bert_base,
    bert_embeddings,
    bert_heads,
    bert_predictions,
    pooler,
)
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("roc_bert",)  # transformers 5.23: modeling_roc_bert.py

_HEADS = ("ForCausalLM", *keys.ENCODER_HEADS, "ForPreTraining")


class RocBert(Sizes):
    concat_input: bool = flag(absent=True)
    enable_pronunciation: bool = flag(absent=True)
    enable_shape: bool = flag(absent=True)
    pronunciation_vocab_size: int = size()
    pronunciation_embed_dim: int = size()
    shape_vocab_size: int = size()
    shape_embed_dim: int = size()


def spec(c: Config) -> Spec[RocBert]:
    sizes = RocBert.read(c)
    return keys.encoder(c, heads=_HEADS).having(sizes)


def blueprint(s: Spec[RocBert]) -> Block:
    of, sound, look = s.own, s.own.pronunciation_embed_dim, s.own.shape_embed_dim
    inputs = s.hidden + (sound if of.enable_pronunciation else 0) + (look if of.enable_shape else 0)
    tables = block(
        pronunciation_embed=embedding(of.pronunciation_vocab_size, sound),
        shape_embed=embedding(of.shape_vocab_size, look),
        map_inputs_layer=Linear(inputs, s.hidden, True, "embedding") if of.concat_input else None,
    )
    words = bert_predictions(s, "roc_bert.embeddings.word_embeddings.weight")
    body = bert_base(s, embeddings=bert_embeddings(s, more=tables), pooler=pooler(s))
    return bert_heads(s, "roc_bert", body, words, pretraining=block(cls=block(predictions=words)))
