"""UltraBERT: Llama's layers within windows and without, whose tokens also see later ones."""

from hfcount.architectures import keys
from hfcount.architectures.layers import base, gqa, lm_head, pre_norm, swiglu
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ultrabert",)  # transformers 5.23: modeling_ultrabert.py
IGNORED = ("classifier_pooling", "attention_windows")
SPELLINGS = {r"^ultrabert\.": "model.", r"^cls\.": "head.decoder."}

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


class Ultrabert(Sizes):
    prediction_head_size: int = size("d_p", absent=768)


def spec(c: Config) -> Spec[Ultrabert]:
    attention = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer = Layer(mixer=attention, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    sizes = Ultrabert.read(c)
    return keys.decoder_spec(c, layer, heads=_HEADS).replace(causal=False).having(sizes)


def blueprint(s: Spec[Ultrabert]) -> Block:
    d, narrow = s.hidden, s.own.prediction_head_size
    # Checkpoints keep the names of the first implementation.

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    words = block("lm_head", linear1=Linear(d, narrow), linear2=Linear(narrow, d))
    labels = block(classifier=classifier(s))
    return headed(
        s,
        "ultrabert",
        base(s, layer_block),
        masked_lm=block(head=words, cls=lm_head(s, "ultrabert.embed_tokens.weight")),
        sequence_classification=labels,
        token_classification=labels,
        question_answering=block(qa_outputs=Linear(d, 2, True, "other")),
    )
