"""ViTPose's backbone: a ViT without a class token, with parts of networks for data sets (arXiv:2212.04246)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.vision import vit_attention
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("vitpose_backbone",)  # transformers 5.23: modeling_vitpose_backbone.py
IGNORED = ("out_indices", "stage_names")


class VitposeBackbone(Sizes):
    high: int
    wide: int
    num_channels: int = size("C")
    num_experts: int = size("n_e", minimum=0)
    part_features: int = size("d_e", minimum=0)


def spec(c: Config) -> Spec[VitposeBackbone]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=c.bool("qkv_bias", default=True))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.times("mlp_ratio", d), bias=True))
    high, wide = keys.sides(c, "patch_size")
    sizes = VitposeBackbone.read(c, high=keys.dim("P_h", high), wide=keys.dim("P_w", wide))
    rows, layers = keys.rectangle(c) + 1, keys.uniform(layer, keys.layer_count(c))
    return keys.encoding(c, layers, {"Backbone": "base"}, hidden=d, positions=rows).having(sizes)


def blueprint(s: Spec[VitposeBackbone]) -> Block:
    d, of, parts = s.hidden, s.own, s.own.part_features

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        # Whatever the data set, a token passes one of the parts.
        some = block(
            "mlp",
            fc1=Linear(d, wide, True),
            fc2=Linear(wide, d - parts, True),
            experts=Repeat(Indices.below(of.num_experts), Linear(wide, parts, True), active=1),
        )
        return block(
            attention=vit_attention(d, layer.attention),
            mlp=mlp(d, wide) if of.num_experts == 1 else some,
            layernorm_before=layer_norm(d),
            layernorm_after=layer_norm(d),
        )

    kernel = Tensor((d, of.num_channels, of.high, of.wide))
    return block(
        embeddings=block(
            "embedding",
            position_embeddings=Tensor((1, s.positions or 0, d)),
            patch_embeddings=block(projection=block(weight=kernel, bias=Tensor((d,)))),
        ),
        encoder=block(layer=stack(s.layers, layer_block)),
        layernorm=layer_norm(d),
    )
