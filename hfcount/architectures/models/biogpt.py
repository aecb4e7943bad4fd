"""BioGPT: a decoder for biomedical texts with learned positions (arXiv:2210.10341)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import generative, positions
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("biogpt",)  # transformers 5.23: modeling_biogpt.py

_HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec:
    d = c.int("hidden_size")
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    # The first two rows of the table of positions are reserved for padding.
    return keys.decoder_spec(
        c, layer, hidden=d, tied=True, positions=c.int("max_position_embeddings") + 2, heads=_HEADS
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden
    body = block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=positions(s),
        layers=stack(s.layers, lambda layer: bart_layer(d, layer, crossed=False)),
        layer_norm=layer_norm(d),
    )
    return generative(s, "biogpt", body, "embed_tokens", head="output_projection")
