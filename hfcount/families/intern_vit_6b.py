"""InternViT: a class token, fused attention, and a scale on each branch (arXiv:2312.14238)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, rms_norm, stack
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Sizes, Spec, flag
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("intern_vit_6b",)  # modeling_intern_vit.py of OpenGVLab/InternVL2-4B
CLASSES = ("InternVisionModel",)
IGNORED = ("use_flash_attn",)


class InternVit6b(Sizes):
    rms_norm: bool
    qkv_bias: bool = flag(absent=False)
    qk_normalization: bool = flag(absent=True)


def spec(c: Config) -> Spec[InternVit6b]:
    c.assuming({"num_attention_heads": 25})
    own = InternVit6b.read(c, rms_norm=c.str("norm_type", default="layer_norm") == "rms_norm")
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1).having(own)


def blueprint(s: Spec[InternVit6b]) -> Block:
    d, scale = s.hidden, Tensor((s.hidden,))
    norm = rms_norm(d) if s.own.rms_norm else layer_norm(d)
    normed = block(q_norm=rms_norm(d), k_norm=rms_norm(d)).children if s.own.qk_normalization else {}
    attention = fused_square_attention(d, s.own.qkv_bias)

    def layer(one: Layer) -> Block:
        return block(
            attn=Block({**attention.children, **normed}, "attention"),
            mlp=mlp(d, one.dense.width),
            norm1=norm,
            norm2=norm,
            ls1=scale,
            ls2=scale,
        )

    table = block(
        "embedding",
        class_embedding=Tensor((1, 1, d)),
        patch_embedding=patch_convolution(s),
        position_embedding=Tensor((1, s.positions or 0, d)),
    )
    return block(embeddings=table, encoder=block(layers=stack(s.layers, layer)))
