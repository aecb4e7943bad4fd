"""RoFormer: BERT with rotary positions, whose sinusoids are stored once (arXiv:2104.09864)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import stack
from hfcount.architectures.layers.classic import summary
from hfcount.architectures.layers.encoders import (
    bert_embeddings,
    bert_heads,
    bert_layer,
    bert_predictions,
    dense_classifier,
)
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("roformer",)  # transformers 5.23: modeling_roformer.py


class Roformer(Sizes):
    embedding_size: int = derived(lambda c: c.int("embedding_size", default=c.int("hidden_size")))
    summary_use_proj: bool = flag(absent=False)


def spec(c: Config) -> Spec[Roformer]:
    sizes = Roformer.read(c)
    return keys.encoder(c, heads=("ForCausalLM", *keys.ENCODER_HEADS), narrow=True).having(sizes)


def blueprint(s: Spec[Roformer]) -> Block:
    d, width = s.hidden, s.own.embedding_size
    sinusoids = Tensor((s.positions or 0, s.layers[0].layer.attention.head_dim))
    body = block(
        embeddings=bert_embeddings(s.replace(positions=None), width),
        embeddings_project=None if width == d else Linear(width, d, True, "embedding"),
        encoder=block(
            embed_positions=block("embedding", weight=sinusoids),
            layer=stack(s.layers, lambda layer: bert_layer(d, layer)),
        ),
    )
    words = bert_predictions(s, "roformer.embeddings.word_embeddings.weight", width)
    summed = summary(d, d if s.own.summary_use_proj else 0)
    choice = block(sequence_summary=summed, classifier=Linear(d, 1, True, "other"))
    more = {
        "sequence_classification": block(classifier=dense_classifier(s)),
        "multiple_choice": choice,
        "question_answering": block(qa_outputs=Linear(d, 2, True, "other")),
    }
    return bert_heads(s, "roformer", body, words, **more)
