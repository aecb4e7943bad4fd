"""The vision tower of MiniCPM-V 2: SigLIP's as timm names it (arXiv:2303.15343)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import GQA, Dense, Layer, Patches, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("minicpmv_vision",)  # modeling_minicpmv.py of openbmb/MiniCPM-V-2


def spec(c: Config) -> Spec:
    # The config names a tower of timm, vit_so400m_patch14_siglip_384: its sizes, and those of its 27 by 27 places.
    named = c.str("vision_encoder", default="")
    if not named.startswith("vit_so400m_patch14_siglip_384"):
        raise c.error("vision_encoder names a tower that is not described.", "vision_encoder", observed=named)
    layer = Layer(mixer=GQA(heads=16, kv_heads=16, head_dim=72), ffn=Dense(width=4304, bias=True))
    seen = Patches(side=14, channels=3)
    return keys.encoding(c, keys.uniform(layer, 27), hidden=1152, patches=seen, positions=27 * 27)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            norm1=layer_norm(d),
            attn=fused_square_attention(d),
            norm2=layer_norm(d),
            mlp=mlp(d, one.dense.width),
        )

    return block(
        patch_embed=block(proj=patch_convolution(s)),
        pos_embed=Tensor((1, s.positions or 0, d), component="embedding"),
        blocks=stack(s.layers, layer),
        norm=layer_norm(d),
    )
