"""BERT for generation: an encoder without token types, and a decoder of the same make (arXiv:1907.12461)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.encoders import bert_base, decoder_over
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("bert-generation",)  # transformers 5.23: modeling_bert_generation.py


def spec(c: Config) -> Spec:
    d, crossed = c.int("hidden_size"), c.bool("add_cross_attention", default=False)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True), cross_attention=crossed)
    rows, heads = c.int("max_position_embeddings"), keys.named(GenerationDecoder="causal_lm", GenerationEncoder="base")
    causal, why = keys.is_causal(c, crossed), keys.ACROSS if crossed else ""
    model = keys.decoder_spec(c, layer, hidden=d, tied=True, positions=rows, heads=heads)
    return model.replace(causal=causal, uncounted=why)


def blueprint(s: Spec) -> Block:
    body = bert_base(s)
    words = decoder_over(s, "bert.embeddings.word_embeddings.weight")
    return headed(s, "bert", body, causal_lm=block(lm_head=words))
