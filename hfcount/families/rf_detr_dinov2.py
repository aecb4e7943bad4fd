"""RF-DETR's DINOv2: attention within windows, except where features are given out (arXiv:2304.07193)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack, swiglu
from hfcount.parts.classic import mha
from hfcount.parts.vision import patch_convolution, vit_attention
from hfcount.spec import Dense, Layer, Sizes, Spec, flag
from hfcount.tree.dims import round_up
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("rf_detr_dinov2",)  # transformers 5.23: modeling_rf_detr.py
IGNORED = (
    "num_windows",
    "window_block_indexes",
    "num_register_tokens",
    "apply_layernorm",
    "reshape_hidden_states",
    "stage_names",
)

_HEADS = keys.named(Backbone="backbone")


class RfDetrDinov2(Sizes):
    """What this architecture alone has."""

    gated: bool
    use_mask_token: bool = flag(absent=True)
    outputs: int


def spec(c: Config) -> Spec[RfDetrDinov2]:
    d, gated = c.int("hidden_size"), c.bool("use_swiglu_ffn", default=False)
    wide = c.times("mlp_ratio", d)
    ffn = Dense(width=round_up(2 * wide // 3, 8) if gated else wide, bias=True)
    bias, heads = c.bool("qkv_bias", default=True), c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    depth = keys.layer_count(c)
    outputs = len(keys.features(c, depth))
    if not outputs:
        raise c.error("out_indices names no stage, and those before the last one see windows.", "out_indices")
    own = RfDetrDinov2.read(c, gated=gated, outputs=keys.dim("n_o", outputs))
    layers, rows = keys.uniform(Layer(mixer=mixer, ffn=ffn), depth), keys.squares(c) + 1
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=keys.patches(c)).having(own)


def blueprint(s: Spec[RfDetrDinov2]) -> Block:
    d, of, scale, norm = s.hidden, s.own, block(lambda1=Tensor((s.hidden,))), layer_norm(s.hidden)

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        return block(
            norm1=norm,
            attention=vit_attention(d, a) if s.adapted else mha(d, a, "o_proj"),
            layer_scale1=scale,
            norm2=norm,
            mlp=swiglu(d, width, bias=True) if of.gated else mlp(d, width),
            layer_scale2=scale,
        )

    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        mask_token=Tensor((1, d)) if of.use_mask_token else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    return block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer)), layernorm=norm)
