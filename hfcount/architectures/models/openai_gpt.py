"""The first GPT, with projections stored as (inputs, outputs) like GPT-2's (Radford et al. 2018)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import causal_mask, conv1d, generative, positions
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("openai-gpt",)  # transformers 5.23: modeling_openai.py


class OpenaiGptLayer(Record):
    n_ctx: int


def spec(c: Config) -> Spec:
    d, rows = c.int("n_embd", "hidden_size"), c.int("n_positions", "max_position_embeddings")
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"))
    layer = Layer(
        mixer=mixer, ffn=Dense(width=4 * d, bias=True), own=OpenaiGptLayer(n_ctx=c.int("n_ctx", default=rows))
    )
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    heads = ("LMHeadModel", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mask, width = causal_mask(layer.sizes(OpenaiGptLayer).n_ctx), layer.dense.width
        return block(
            attn=block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d), bias=mask["bias"]),
            ln_1=layer_norm(d),
            mlp=block("mlp", c_fc=conv1d(d, width), c_proj=conv1d(width, d)),
            ln_2=layer_norm(d),
        )

    body = block(tokens_embed=embedding(s.vocab, d), positions_embed=positions(s), h=stack(s.layers, layer_block))
    return generative(s, "transformer", body, "tokens_embed")
