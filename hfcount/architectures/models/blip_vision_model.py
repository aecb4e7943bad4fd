"""The vision tower of BLIP, BLIP-2 and InstructBLIP (arXiv:2201.12086, arXiv:2301.12597, arXiv:2305.06500)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_blip.py, modeling_blip_2.py, modeling_instructblip.py, modeling_instructblipvideo.py
MODEL_TYPES = (
    "blip_vision_model",
    "blip_2_vision_model",
    "instructblip_vision_model",
    "instructblipvideo_vision_model",
)
IGNORED = ("projection_dim",)


class BlipVisionModel(Sizes):
    qkv_bias: bool


def spec(c: Config) -> Spec[BlipVisionModel]:
    rows, colours = keys.squares(c) + 1, Patches(side=c.int("patch_size"), channels=3)
    biased = c.family == "blip_vision_model" or c.bool("qkv_bias", default=True)
    return keys.tower(c, patches=colours, positions=rows).having(BlipVisionModel.read(c, qkv_bias=biased))


def blueprint(s: Spec[BlipVisionModel]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        qkv = Linear(d, 3 * d, s.own.qkv_bias)
        return block(
            self_attn=block("attention", qkv=qkv, projection=Linear(d, d, True)),
            layer_norm1=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
            layer_norm2=layer_norm(d),
        )

    table = block(
        "embedding",
        class_embedding=Tensor((1, 1, d)),
        position_embedding=Tensor((1, s.positions or 0, d)),
        patch_embedding=patch_convolution(s),
    )
    return block(embeddings=table, encoder=block(layers=stack(s.layers, layer_block)), post_layernorm=layer_norm(d))
