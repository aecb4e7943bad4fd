"""ChatGLM-6B: GLM-130B's layers at a smaller width, with rotary positions in two dimensions (arXiv:2210.02414)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import fc, fused_attention
from hfcount.architectures.layers.model import lm_head
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, block, buffer

MODEL_TYPES = ("chatglm_6b",)  # modeling_chatglm.py of THUDM/chatglm-6b, whose configs are of type chatglm
IGNORED = ("max_sequence_length", "prefix_projection")


def spec(c: Config) -> Spec:
    for key in ("pre_seq_len", "quantization_bit"):
        if c.int(key, default=0, minimum=0):
            raise UnknownArchitecture(f"{c.where}: ChatGLM-6B is described without {key}.")
    if not c.bool("position_encoding_2d", default=True):
        raise UnknownArchitecture(f"{c.where}: ChatGLM-6B is described with positions in two dimensions alone.")
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("inner_hidden_size", default=4 * d), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "num_layers"))
    # A model saved by the base class's name has the head, too.
    heads = keys.named(("ForConditionalGeneration",), Model="conditional_generation")
    return keys.decoder_spec(c, layers, heads=heads, tied=True, hidden=d)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        attention = fused_attention(d, a, "query_key_value", "dense").children
        turning = block(inv_freq=buffer(a.head_dim // 4))  # each half of a head by a dimension of its own
        return block(
            input_layernorm=layer_norm(d),
            attention=Block({**attention, "rotary_emb": turning}, "attention"),
            post_attention_layernorm=layer_norm(d),
            mlp=Block(dict(fc(d, layer.dense.width, up="dense_h_to_4h", down="dense_4h_to_h")), "mlp"),
        )

    body = block(
        word_embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layernorm=layer_norm(d)
    )
    return block(transformer=body, lm_head=lm_head(s, "transformer.word_embeddings.weight"))
