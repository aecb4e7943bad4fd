"""XGLM: a multilingual decoder with sinusoidal positions, which are not stored (arXiv:2112.10668)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import generative
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("xglm",)  # transformers 5.23: modeling_xglm.py


def spec(c: Config) -> Spec:
    d = c.int("d_model", "hidden_size")
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("attention_heads", "num_attention_heads")),
        ffn=Dense(width=c.int("ffn_dim"), bias=True),
        cross_attention=c.bool("add_cross_attention", default=False),
    )
    layers = keys.uniform(layer, keys.layer_count(c, "num_layers", "num_hidden_layers"))
    why = keys.ACROSS if layer.cross_attention else ""
    return keys.decoder_spec(c, layers, hidden=d, tied=True, heads=("ForCausalLM", "Model"), uncounted=why)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return bart_layer(d, layer, crossed=layer.cross_attention)

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), layer_norm=layer_norm(d))
    return generative(s, "model", body, "embed_tokens")
