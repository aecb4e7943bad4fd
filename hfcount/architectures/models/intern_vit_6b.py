"""InternViT: a class token, fused attention, and a scale on each branch (arXiv:2312.14238)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("intern_vit_6b",)  # modeling_intern_vit.py of OpenGVLab/InternVL2-4B
CLASSES = ("InternVisionModel",)
IGNORED = ("use_flash_attn",)


class InternVit6b(Sizes):
    rms_norm: bool
    dummies: int  # heads beyond those of the config, so that more ranks can share them
    qkv_bias: bool = flag(absent=False)
    qk_normalization: bool = flag(absent=True)


def spec(c: Config) -> Spec[InternVit6b]:
    c.assuming({"num_attention_heads": 25})
    normed = c.choice("norm_type", ("layer_norm", "rms_norm"), default="layer_norm")
    sizes = InternVit6b.read(c, rms_norm=normed == "rms_norm", dummies=0)
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1).having(sizes)


def blueprint(s: Spec[InternVit6b]) -> Block:
    d, scale = s.hidden, Tensor((s.hidden,))
    norm = rms_norm(d) if s.own.rms_norm else layer_norm(d)

    def layer_block(layer: Layer) -> Block:
        inner = d + s.own.dummies * layer.attention.head_dim if s.own.dummies else d
        both = block(q_norm=rms_norm(inner), k_norm=rms_norm(inner)) if s.own.qk_normalization else block()
        into, out = Linear(d, 3 * inner, s.own.qkv_bias), Linear(inner, d, True)
        return block(
            attn=block("attention", qkv=into, proj=out, **both.children),
            mlp=mlp(d, layer.dense.width),
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
    return block(embeddings=table, encoder=block(layers=stack(s.layers, layer_block)))
