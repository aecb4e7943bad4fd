"""Molmo 2's vision tower: SigLIP's layers over flattened patches, without a last norm."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import mha
from hfcount.parts.vision import patch_projection
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("molmo2_vision",)  # transformers 5.23: modeling_molmo2.py


def spec(c: Config) -> Spec:
    side = c.int("image_patch_size", default=None) or c.int("patch_size")
    sides = c.ints("image_default_input_size", "image_size", default=(378, 378))
    rows = c.int("image_num_pos", "num_position_embeddings", default=None)
    rows = sides[0] // side * (sides[-1] // side) if rows is None else rows
    bias = c.bool("attention_bias", default=True)
    mixer = keys.attention(c, bias=bias)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=True))
    seen = Patches(side=side, channels=c.int("num_channels", default=3))
    layers = keys.uniform(layer, keys.layer_count(c))
    return keys.encoding(c, layers, hidden=c.int("hidden_size"), patches=seen, positions=rows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        if not s.place:
            network = mlp(d, width)
            return block(
                layer_norm1=layer_norm(d), self_attn=mha(d, a, "o_proj"), layer_norm2=layer_norm(d), mlp=network
            )
        query, shared = a.heads * a.head_dim, Linear(d, a.kv_heads * a.head_dim, a.qkv_bias)
        wq, wo = Linear(d, query, a.qkv_bias), Linear(query, d, a.out_bias)
        return block(
            attention=block("attention", wq=wq, wk=shared, wv=shared, wo=wo),
            feed_forward=mlp(d, width, up="w1", down="w2"),
            attention_norm=layer_norm(d),
            ffn_norm=layer_norm(d),
        )

    table, layers = Tensor((s.positions or 0, d), component="embedding"), stack(s.layers, layer)
    first = block(positional_embedding=table, patch_embedding=patch_projection(s, bias=True))
    last = block(transformer=block(resblocks=layers)) if s.place else block(layers=layers)
    return Block({**first.children, **last.children})
