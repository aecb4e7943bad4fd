"""Lille 130M: norms within attention and feed-forward, one projection for queries, keys and values (its card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, rms_norm, stack, swiglu
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lille-130m",)  # lille-130m.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("block_size",)
CLASSES = ("LilleForCausalLM",)

_STEP = 256  # of the width of the feed-forward network


def spec(c: Config) -> Spec:
    d, heads, shared = c.int("n_embd"), c.int("n_head"), c.int("n_kv_heads")
    keys.grouped(c, heads, shared)
    each = keys.divides(c, "n_head", heads, "n_embd", d, built=True)
    wide = keys.derived_dim(c, "d_ff", _STEP * round(8 * int(d) // 3 / _STEP), "8 · {n_embd} / 3, rounded to 256")
    layer = Layer(mixer=GQA(heads=heads, kv_heads=shared, head_dim=each), ffn=Dense(width=wide))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer"))
    return keys.decoder_spec(c, layers, hidden=d, heads=("ForCausalLM",)).replace(tied=True)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        out = Linear(a.heads * a.head_dim, d)
        attention = block("attention", qkv_proj=fused_qkv(d, a), out_proj=out, norm=norm)
        return block(attention=attention, feed_forward=altered(swiglu(d, layer.dense.width), norm=norm))

    return block(
        transformer=block(tok_embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=norm)
    )
