"""BERT, and encoders built like it (arXiv:1810.04805)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.encoders import bert_base, bert_heads, pooler
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

# transformers 5.23: modeling_bert.py, modeling_align.py, modeling_bridgetower.py, modeling_chinese_clip.py
MODEL_TYPES = ("bert", "align_text_model", "bridgetower_text_model", "chinese_clip_text_model")
CLASSES = ("BertSpladeSparseEmbeddingModel", "Contriever")
# Of the pooler of a first implementation in TensorFlow, which none in PyTorch reads.
IGNORED = ("pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head")
RETYPED = {"bert": ("alibi_starting_size", None, "mosaic_bert")}

_ENCODING = ("align_text_model", "chinese_clip_text_model")
"""Types whose layers attend to nothing else."""

_ENDINGS = ("LMHeadModel", *keys.ENCODER_HEADS, "ForPreTraining", "ForNextSentencePrediction")
_HEADS = keys.named(
    [ending for ending in _ENDINGS if ending != "ForCausalLM"],
    SpladeSparseEmbeddingModel="masked_lm",
    Contriever="retrieval",  # src/contriever.py of facebookresearch/contriever: the base model without a pooler
)


def spec(c: Config) -> Spec:
    return keys.encoder(c, heads=_HEADS, decoding=c.family not in _ENCODING)


def blueprint(s: Spec) -> Block:
    body = bert_base(s, pooler=pooler(s))
    return body if s.head == "retrieval" else bert_heads(s, "bert", body)
