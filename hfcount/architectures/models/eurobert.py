"""EuroBERT: Llama's layers, whose tokens also see later ones (arXiv:2503.05500)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import base, gqa, pre_norm, swiglu
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.model import lm_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("eurobert",)  # transformers 5.23: modeling_eurobert.py
IGNORED = ("classifier_pooling",)

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec:
    attention = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer = Layer(mixer=attention, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(c, layer, heads=_HEADS).replace(causal=False)


def blueprint(s: Spec) -> Block:
    d, biased = s.hidden, s.layers[0].layer.dense.bias

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    return headed(
        s,
        "model",
        base(s, layer_block),
        masked_lm=block(lm_head=lm_head(s, "model.embed_tokens.weight", biased)),
        sequence_classification=block(dense=Linear(d, d, True, "other"), classifier=classifier(s)),
        token_classification=block(classifier=classifier(s)),
    )
