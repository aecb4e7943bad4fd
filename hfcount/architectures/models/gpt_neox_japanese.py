"""GPT-NeoX Japanese by ABEJA: a bias after attention only in the last layer (model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, inv_freq, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import generative, square_attention
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("gpt_neox_japanese",)  # transformers 5.23: modeling_gpt_neox_japanese.py


class GptNeoxJapaneseLayer(Record):
    dense_bias: bool


def spec(c: Config) -> Spec:
    d, count = c.int("hidden_size"), keys.layer_count(c)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=False, indivisible="built")
    ffn, last = Dense(width=d * c.int("intermediate_multiple_size")), Indices.span(count - 1, count)

    def layer(biased: bool) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, own=GptNeoxJapaneseLayer(dense_bias=biased))

    kinds = (Indices.below(count).difference(last), lambda: layer(False)), (last, lambda: layer(True))
    return keys.decoder_spec(c, keys.split(*kinds), hidden=d, tied=True, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = square_attention(d, "query_key_value", "dense").children
        bias = block(dense_bias=Tensor((d,)) if layer.sizes(GptNeoxJapaneseLayer).dense_bias else None).children
        return block(
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
            attention=Block({**attention, **bias, "rotary_emb": inv_freq(layer.attention.head_dim)}, "attention"),
            mlp=mlp(d, layer.dense.width, bias=False, up="dense_h_to_4h", down="dense_4h_to_h"),
        )

    body = block(embed_in=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layer_norm=layer_norm(d))
    return generative(s, "gpt_neox_japanese", body, "embed_in", head="embed_out")
