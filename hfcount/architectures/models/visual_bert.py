"""VisualBERT: BERT, which also reads features of an image's regions (arXiv:1908.03557)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import classifier, positions
from hfcount.architectures.layers.encoders import (
    bert_base,
    bert_embeddings,
    bert_heads,
    bert_layer,
    bert_predictions,
    pooler,
    token_types,
)
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("visual_bert",)  # transformers 5.23: modeling_visual_bert.py
IGNORED = ("special_visual_initialize",)

_HEADS = keys.named(
    ("ForPreTraining", "Model", "ForMultipleChoice", "ForQuestionAnswering"),
    ForVisualReasoning="question_answering",
    ForRegionToPhraseAlignment="alignment",
)


class VisualBert(Sizes):
    visual_embedding_dim: int = size("d_v")
    bypass_transformer: bool = flag(absent=False)


def spec(c: Config) -> Spec[VisualBert]:
    sizes = VisualBert.read(c)
    return keys.encoder(c, decoding=False, heads=_HEADS).having(sizes)


def blueprint(s: Spec[VisualBert]) -> Block:
    d = s.hidden
    visual = block(
        visual_token_type_embeddings=token_types(s),
        visual_position_embeddings=positions(s),
        visual_projection=Linear(s.own.visual_embedding_dim, d, True, "projector"),
    )
    further = bert_layer(d, s.layers[0].layer) if s.own.bypass_transformer else None
    embeddings = bert_embeddings(s, more=visual)
    body = bert_base(s, embeddings=embeddings, pooler=pooler(s, heads=s.heads), additional_layer=further)
    words = bert_predictions(s, "visual_bert.embeddings.word_embeddings.weight")
    head = Linear(d, s.layers[0].layer.attention.head_dim, True)  # the only one
    aligned = block(
        cls=block(predictions=words, seq_relationship=Linear(d, 2, True, "other")),
        attention=block("other", query=head, key=head, value=head),
    )
    return bert_heads(
        s,
        "visual_bert",
        body,
        multiple_choice=block(cls=Linear(d, 1, True, "other")),
        question_answering=block(cls=classifier(s)),
        alignment=aligned,
    )
