"""MarkupLM: RoBERTa that also reads where in a page's markup a word stands (arXiv:2110.08518)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("markuplm",)  # transformers 5.23: modeling_markuplm.py
IGNORED = ("tag_pad_id", "subs_pad_id")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class Markuplm(Sizes):
    max_xpath_tag_unit_embeddings: int = size("n_t")
    max_xpath_subs_unit_embeddings: int = size("n_s")
    xpath_unit_hidden_size: int = size("d_x")
    max_depth: int = count("x")


def spec(c: Config) -> Spec[Markuplm]:
    sizes = Markuplm.read(c)
    return keys.encoder(c, decoding=False, heads=_HEADS).replace(tied=False).having(sizes)


def blueprint(s: Spec[Markuplm]) -> Block:
    d, of = s.hidden, s.own
    unit, depth = of.xpath_unit_hidden_size, Indices.below(of.max_depth)
    width, wide = of.max_depth * unit, 4 * d
    path = block(
        "embedding",
        xpath_unitseq2_embeddings=Linear(width, d, True),
        xpath_unitseq2_inner=Linear(width, wide, True),
        inner2emb=Linear(wide, d, True),
        xpath_tag_sub_embeddings=Repeat(depth, embedding(of.max_xpath_tag_unit_embeddings, unit)),
        xpath_subs_sub_embeddings=Repeat(depth, embedding(of.max_xpath_subs_unit_embeddings, unit)),
    )
    embeddings = bert_embeddings(s, more=block(xpath_embeddings=path))
    body = bert_base(s, embeddings=embeddings, pooler=pooler(s, heads=("base", "sequence_classification")))
    return bert_heads(s, "markuplm", body)
