"""MPT 1B to 30B: no biases, ALiBi, a feed-forward network of four times the width (MosaicML 2023, model cards)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import generative, square_attention
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("mpt",)  # transformers 5.23: modeling_mpt.py


def spec(c: Config) -> Spec:
    d = c.int("d_model", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("n_heads", "num_attention_heads"), bias=False, indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=4 * d))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layers", "num_hidden_layers"))
    return keys.decoder_spec(c, layers, hidden=d, tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            norm_1=layer_norm(d, bias=False),
            attn=square_attention(d, "Wqkv", "out_proj"),
            norm_2=layer_norm(d, bias=False),
            ffn=mlp(d, layer.dense.width, bias=False, up="up_proj", down="down_proj"),
        )

    body = block(wte=embedding(s.vocab, d), blocks=stack(s.layers, layer_block), norm_f=layer_norm(d, bias=False))
    return generative(s, "transformer", body, "wte")
