"""PP-FormulaNet's decoder of LaTeX: mBART's (arXiv:2503.18382)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.classic import positions
from hfcount.parts.seq2seq import bart_layer
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("pp_formulanet_text",)  # transformers 5.23: modeling_pp_formulanet.py
IGNORED = ("encoder_layers", "encoder_attention_heads", "scale_embedding")


def spec(c: Config) -> Spec:
    d = c.int("d_model", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("decoder_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("decoder_ffn_dim"), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "decoder_layers"))
    # The first two rows of the table of positions are reserved for padding.
    rows, why = c.int("max_position_embeddings") + 2, keys.ACROSS
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=("Model",), uncounted=why)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    return block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=positions(s),
        layers=stack(s.layers, lambda one: bart_layer(d, one, crossed=True)),
        layernorm_embedding=layer_norm(d),
        layer_norm=layer_norm(d),
    )
