"""Evolla's encoder of proteins, SaProt: ESM-2's layers over residues and structure (doi:10.1101/2023.10.01.560349)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, layer_norm, stack
from hfcount.parts.encoders import bert_layer
from hfcount.spec import Dense, Layer, Sizes, Spec, flag, size
from hfcount.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("evolla_protein",)  # transformers 5.23: modeling_evolla.py


class EvollaProtein(Sizes):
    """What this architecture alone has."""

    emb_layer_norm_before: bool = flag(absent=False)
    rotary: bool
    rows: int = size("|V_p|", "vocab_size")


def spec(c: Config) -> Spec[EvollaProtein]:
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=True))
    kind = c.str("position_embedding_type", default="rotary")
    own = EvollaProtein.read(c, rotary=kind == "rotary")
    places = c.int("max_position_embeddings") if kind == "absolute" else None
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), hidden=d, positions=places).having(own)


def blueprint(s: Spec[EvollaProtein]) -> Block:
    d, of, norm = s.hidden, s.own, layer_norm(s.hidden)
    square = Linear(d, d, True)

    def layer(one: Layer) -> Block:
        # Norms come before attention and networks.
        own = block("attention", query=square, key=square, value=square)
        attention = block(self=own, output=block("attention", dense=square), LayerNorm=norm)
        back = block("mlp", dense=Linear(one.dense.width, d, True))
        return altered(bert_layer(d, one), attention=attention, output=back, LayerNorm=norm)

    width = s.layers[0].layer.attention.head_dim
    tables = block(
        "embedding",
        word_embeddings=embedding(of.rows, d),
        layer_norm=norm if of.emb_layer_norm_before else None,
        position_embeddings=None if s.positions is None else embedding(s.positions, d),
    )
    turned = block(inv_freq=buffer(width // 2)) if of.rotary else None
    encoder = block(layer=stack(s.layers, layer), emb_layer_norm_after=norm)
    return block(embeddings=tables, rotary_embeddings=turned, encoder=encoder)
