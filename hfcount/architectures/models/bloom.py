"""BLOOM: ALiBi positions, the embedding normalised (arXiv:2211.05100)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, pre_norm, stack
from hfcount.architectures.layers.classic import fused_attention, generative
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("bloom",)  # transformers 5.23: modeling_bloom.py
IGNORED = ("masked_softmax_fusion", "offset_alibi", "skip_bias_add")


def spec(c: Config) -> Spec:
    d = c.int("hidden_size", "n_embed")
    mixer = keys.multi_head(c, d, c.int("n_head", "num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=4 * d, bias=True))
    return keys.decoder_spec(
        c, keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers")), hidden=d, tied=True
    )


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            layer_norm,
            self_attention=fused_attention(d, layer.attention, "query_key_value", "dense"),
            mlp=mlp(d, layer.dense.width, up="dense_h_to_4h", down="dense_4h_to_h"),
        )

    body = block(
        word_embeddings=embedding(s.vocab, d),
        word_embeddings_layernorm=layer_norm(d),
        h=stack(s.layers, layer_block),
        ln_f=layer_norm(d),
    )
    return generative(s, "transformer", body, "word_embeddings")
