"""Falcon 1B to 180B: multi-head, grouped-query or multi-query attention (arXiv:2311.16867)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention, generative
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, Record, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("falcon",)  # transformers 5.23: modeling_falcon.py
CLASSES = ("RWForCausalLM",)


class FalconLayer(Record):
    num_ln_in_parallel_attn: int


def spec(c: Config) -> Spec:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    bias, grouped = c.bool("bias", default=False), c.bool("new_decoder_architecture", default=False)
    shared, parallel = c.bool("multi_query", default=True), c.bool("parallel_attn", default=True)
    each = keys.multi_head(c, d, heads)
    given = c.int("num_kv_heads", default=heads)
    kv_heads = given if grouped else Dim.named("multi_query", 1, "multi_query") if shared else heads
    norms = c.int("num_ln_in_parallel_attn", default=2 if grouped else 1) or 1 if parallel else 0  # 0 is read as 1
    width = c.int("ffn_hidden_size", default=4 * d)
    c.confirms(intermediate_size=int(width))
    layer = Layer(
        mixer=GQA(heads=heads, kv_heads=kv_heads, head_dim=each.head_dim, qkv_bias=bias, out_bias=bias),
        ffn=Dense(width=width, bias=bias),
        own=FalconLayer(num_ln_in_parallel_attn=norms),
    )
    return keys.decoder_spec(c, layer, hidden=d, tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        norms, norm = layer.sizes(FalconLayer).num_ln_in_parallel_attn, layer_norm(d)
        return block(
            self_attention=fused_attention(d, layer.attention, "query_key_value", "dense"),
            mlp=mlp(d, layer.dense.width, layer.dense.bias, up="dense_h_to_4h", down="dense_4h_to_h"),
            input_layernorm=None if norms == 2 else norm,
            post_attention_layernorm=None if norms else norm,
            ln_attn=norm if norms == 2 else None,
            ln_mlp=norm if norms == 2 else None,
        )

    body = block(word_embeddings=embedding(s.vocab, d), h=stack(s.layers, layer_block), ln_f=layer_norm(d))
    return generative(s, "transformer", body, "word_embeddings")
