"""DeepSeek-VL2's vision tower: SigLIP's as timm names it (arXiv:2412.10302, arXiv:2303.15343)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Dense, Layer, Sizes, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("deepseek_vl_v2_vision",)  # siglip_vit.py of deepseek-ai/DeepSeek-VL2
IGNORED = ("ignore_head", "num_recomputing_layers")

# modeling_deepseek_vl_v2.py of deepseek-ai/DeepSeek-VL2.
_ABSENT = {"width": 1024, "layers": 24, "heads": 16, "image_size": 384, "patch_size": 16, "mlp_ratio": 4}


class DeepseekVlV2Vision(Sizes):
    """What this architecture alone has."""

    pooled: bool
    averaged: bool
    class_token: bool


def spec(c: Config) -> Spec[DeepseekVlV2Vision]:
    c = c.assuming(_ABSENT)
    d, first = c.int("width"), c.bool("class_token", default=False)
    pooled = c.str("global_pool", default="map")
    if pooled not in ("", "map", "token", "avg") or (pooled == "token" and not first):
        raise c.error("global_pool names no way to pool that the tower has.", "global_pool", observed=pooled)
    own = DeepseekVlV2Vision.read(c, pooled=pooled == "map", averaged=pooled == "avg", class_token=first)
    ffn = Dense(width=c.times("mlp_ratio", d), bias=True)
    rows = keys.squares(c) + first
    seen = keys.patches(c, "in_chans")
    return keys.tower(c, hidden=d, ffn=ffn, heads=("heads",), depth=("layers",), patches=seen, positions=rows).having(
        own
    )


def blueprint(s: Spec[DeepseekVlV2Vision]) -> Block:
    d, width, of = s.hidden, s.layers[0].layer.dense.width, s.own

    def layer(one: Layer) -> Block:
        return block(norm1=layer_norm(d), attn=fused_square_attention(d), norm2=layer_norm(d), mlp=mlp(d, width))

    square, token = Linear(d, d, True), Tensor((1, 1, d))
    pool = block("attention", latent=token, q=square, kv=Linear(d, 2 * d, True), proj=square)
    return block(
        patch_embed=block(proj=patch_convolution(s)),
        cls_token=token if of.class_token else None,
        pos_embed=Tensor((1, s.positions or 0, d), component="embedding"),
        blocks=stack(s.layers, layer),
        norm=None if of.averaged else layer_norm(d),
        fc_norm=layer_norm(d) if of.averaged else None,
        attn_pool=Block({**pool.children, "norm": layer_norm(d), "mlp": mlp(d, width)}) if of.pooled else None,
    )
