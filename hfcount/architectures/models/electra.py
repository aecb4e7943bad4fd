"""ELECTRA: a discriminator of replaced words, and the smaller generator that it is trained with (arXiv:2003.10555)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, lm_head
from hfcount.architectures.layers.classic import summary
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, dense_classifier
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("electra",)  # transformers 5.23: modeling_electra.py

_HEADS = ("ForCausalLM", *keys.ENCODER_HEADS, "ForPreTraining")


class Electra(Sizes):
    embedding_size: int = size()
    summary_use_proj: bool = flag(absent=True)


def spec(c: Config) -> Spec[Electra]:
    sizes = Electra.read(c)
    return keys.encoder(c, heads=_HEADS, narrow=True).having(sizes)


def blueprint(s: Spec[Electra]) -> Block:
    d, width = s.hidden, s.own.embedding_size
    wider = None if width == d else Linear(width, d, True, "embedding")
    embedded = block(embeddings=bert_embeddings(s, width), embeddings_project=wider).children
    body = Block({**embedded, **block(encoder=bert_base(s).children["encoder"]).children})
    words = block(
        generator_predictions=block("lm_head", LayerNorm=layer_norm(width), dense=Linear(d, width, True)),
        generator_lm_head=lm_head(s, "electra.embeddings.word_embeddings.weight", True, width),
    )
    judge = block("other", dense=Linear(d, d, True), dense_prediction=Linear(d, 1, True))
    summed = summary(d, d if s.own.summary_use_proj else 0)
    more = {
        "causal_lm": words,
        "masked_lm": words,
        "pretraining": block(discriminator_predictions=judge),
        "sequence_classification": block(classifier=dense_classifier(s)),
        "multiple_choice": block(sequence_summary=summed, classifier=Linear(d, 1, True, "other")),
    }
    return bert_heads(s, "electra", body, **more)
