"""LW-DETR's ViT: a learned scale on each branch, attention within windows in some layers (arXiv:2406.03459)."""

from math import isqrt

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Dense, Layer, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("lw_detr_vit",)  # transformers 5.23: modeling_lw_detr.py
IGNORED = ("window_block_indices", "num_windows_side", "stage_names")

_HEADS = keys.named(Backbone="backbone")


class LwDetrVit(Sizes):
    """What this architecture alone has."""

    outputs: int


def spec(c: Config) -> Spec[LwDetrVit]:
    d, windows, image = c.int("hidden_size"), c.int("num_windows"), c.int("image_size")
    side = isqrt(windows)
    if not windows or side * side != windows or image % (windows * side):
        said = (
            f"num_windows is {windows:,}, and must be a square that, times its root, image_size {image:,} is made of."
        )
        raise c.error(said, "num_windows", "Correct one of them.", observed=int(windows))
    bias = c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="run", own_width=True)
    one = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    learned = c.bool("use_absolute_position_embeddings", default=True)
    rows = keys.squares(c, "pretrain_image_size") + 1 if learned else None
    depth = keys.layer_count(c)
    own = LwDetrVit.read(c, outputs=keys.dim("n_o", len(keys.features(c, depth))))
    layers = keys.uniform(one, depth)
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=keys.patches(c)).having(own)


def blueprint(s: Spec[LwDetrVit]) -> Block:
    d, norm, scale = s.hidden, layer_norm(s.hidden), Tensor((s.hidden,))

    def layer(one: Layer) -> Block:
        a = one.attention
        wide = a.heads * a.head_dim
        into, out = Linear(d, wide, a.qkv_bias), Linear(wide, d, True)
        keys = Linear(d, wide)  # which never have a bias
        attention = block("attention", q_proj=into, k_proj=keys, v_proj=into, o_proj=out)
        if s.adapted:
            attention = block("attention", attention=block(query=into, key=keys, value=into), output=out)
        return block(
            attention=attention,
            intermediate=mlp(d, one.dense.width),
            layernorm_before=norm,
            layernorm_after=norm,
            gamma_1=scale,
            gamma_2=scale,
        )

    table = Tensor((1, s.positions, d)) if s.positions else None
    embeddings = block("embedding", position_embeddings=table, projection=patch_convolution(s))
    return block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer)))
