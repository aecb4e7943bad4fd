"""DPR: BERT without a pooler, as an encoder of questions or of passages, or as a reader (arXiv:2004.04906)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.encoders import bert_base
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("dpr",)  # transformers 5.23: modeling_dpr.py

_HEADS = keys.named(QuestionEncoder="encoder", ContextEncoder="base", Reader="question_answering")


def spec(c: Config) -> Spec:
    model = keys.encoder(c, heads=_HEADS)
    out = c.int("projection_dim", default=0, minimum=0)
    return model.replace(out=keys.dim("d_p", out) if out else None)


def blueprint(s: Spec) -> Block:
    d, out = s.hidden, s.out or s.hidden
    projection = Linear(d, out, True, "projector") if s.out else None
    inner = block(bert_model=bert_base(s), encode_proj=projection)
    if s.head == "question_answering":
        reader = {"qa_outputs": Linear(out, 2, True, "other"), "qa_classifier": Linear(out, 1, True, "other")}
        return block(span_predictor=Block({"encoder": inner, **reader}))
    return Block({"question_encoder" if s.head == "encoder" else "ctx_encoder": inner})
