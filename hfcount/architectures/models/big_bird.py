"""BigBird: BERT with sparse attention, pooled by one projection (arXiv:2007.14062)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.encoders import bert_base, bert_heads, dense_classifier
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("big_bird",)  # transformers 5.23: modeling_big_bird.py

_HEADS = ("ForCausalLM", *keys.ENCODER_HEADS, "ForPreTraining")


def spec(c: Config) -> Spec:
    known = keys.encoder(c, heads=_HEADS, bias=c.bool("use_bias", default=True))
    kind = c.choice("attention_type", ("block_sparse", "original_full"), "block_sparse")
    if known.causal or kind != "block_sparse":
        return known
    # A token sees its own block of them, one on each side, the first, the last, and some at random.
    blocks = 5 + c.int("num_random_blocks", default=3, minimum=0)
    return known.replace(windows=keys.within(keys.other_than(c), blocks * int(c.int("block_size", default=64))))


def blueprint(s: Spec) -> Block:
    d, width = s.hidden, s.layers[0].layer.dense.width
    pooled = None if s.head == "question_answering" else Linear(d, d, True, "other")
    spans = block(
        "other",
        intermediate=block(dense=Linear(d, width, True)),
        output=block(dense=Linear(width, d, True), LayerNorm=layer_norm(d)),
        qa_outputs=Linear(d, 2, True),
    )
    two_layers, span_head = block(classifier=dense_classifier(s)), block(qa_classifier=spans)
    body = bert_base(s, pooler=pooled)
    return bert_heads(s, "bert", body, sequence_classification=two_layers, question_answering=span_head)
