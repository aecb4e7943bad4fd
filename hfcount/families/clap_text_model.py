"""CLAP's text tower: RoBERTa (arXiv:2211.06687)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.composite import two_layers
from hfcount.parts.encoders import bert_base, bert_embeddings, pooler
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, block, buffer

MODEL_TYPES = ("clap_text_model",)  # transformers 5.23: modeling_clap.py

_HEADS = keys.named(("Model",), ModelWithProjection="projection")


class ClapTextModel(Sizes):
    """What this architecture alone has."""

    projection_dim: int = size("d_o")


def spec(c: Config) -> Spec[ClapTextModel]:
    own = ClapTextModel.read(c)
    return keys.encoder(c, heads=_HEADS).replace(causal=False, uncounted="", tied=False).having(own)


def blueprint(s: Spec[ClapTextModel]) -> Block:
    numbers = buffer(1, s.positions or 0, whole=True)
    embeddings = bert_embeddings(s, more=block(position_ids=numbers, token_type_ids=numbers))
    body = bert_base(s, embeddings=embeddings, pooler=pooler(s, heads=s.heads))
    if s.head == "base":
        return body
    return block(text_model=body, text_projection=two_layers(s.hidden, s.own.projection_dim))
