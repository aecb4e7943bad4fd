"""Hunyuan's vision tower: patches that convolutions merge, under the names of its release and of transformers.

Source of the names: transformers 5.23, conversion_mapping.py.
"""

from collections.abc import Mapping

from hfcount.architectures import families
from hfcount.architectures.layers import layer_norm, mlp, pre_norm, stack, with_head
from hfcount.architectures.layers.classic import mha, positions
from hfcount.architectures.layers.vision import convolution, patch_convolution
from hfcount.mapper import Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Node, block

RELEASED = {
    r"mlp\.dense_h_to_4h\.": "mlp.fc1.",
    r"mlp\.dense_4h_to_h\.": "mlp.fc2.",
    r"^vit\.layers\.(\d+)\.input_layernorm\.": r"vit.layers.\1.layer_norm1.",
    r"^vit\.layers\.(\d+)\.post_attention_layernorm\.": r"vit.layers.\1.layer_norm2.",
    r"perceive\.proj\.0\.": "perceive.proj_conv.",
    r"perceive\.proj\.2\.": "perceive.proj_out.",
    r"perceive\.": "patch_merger.",
    r"^model\.(?!language_model\.|vit\.|vision_tower\.)": "model.language_model.",
    r"^(model\.)?vit\.": "model.vision_tower.",
}
"""The names of the release, and those of transformers."""


class HunyuanVision(Sizes):
    """Whether the tower is a part of a model (1), where its names are those of the release, or stands alone (0)."""

    within: int


def with_tower(s: Spec, text: Block) -> Block:
    """The language model `text` and the tower; beside a head, both have the names of the release."""
    if s.head != "base":
        return Block({**with_head(s, text).children, "vit": families.tower(s, "vision")})
    # Norms get their early names back only beside a head.
    tower = families.tree(s.part("vision").replace(adapted=False))
    return block(language_model=text, vision_tower=tower.replace(component="vision", repeats=0))


def tower(s: Spec[HunyuanVision], width: int, out: int, further: Mapping[str, Node]) -> Block:
    """The tower, whose merger has two convolutions to `width` and then `out` channels, and what is `further` in it."""
    d, within = s.hidden, s.own.within
    up, down = ("dense_h_to_4h", "dense_4h_to_h") if within else ("fc1", "fc2")

    def layer_block(layer: Layer) -> Block:
        attention, network = mha(d, layer.attention, "o_proj"), mlp(d, layer.dense.width, up=up, down=down)
        if s.adapted:
            return pre_norm(d, layer_norm, self_attn=attention, mlp=network)
        return block(layer_norm1=layer_norm(d), self_attn=attention, layer_norm2=layer_norm(d), mlp=network)

    first, second = convolution(d, width, s.seen.merge), convolution(width, out, 1)
    merging = {"proj": Block({"0": first, "2": second})} if within else {"proj_conv": first, "proj_out": second}
    return Block(
        {
            "embeddings": block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
            "layers": stack(s.layers, layer_block),
            "perceive" if within else "patch_merger": Block({**merging, **further}, "projector"),
        }
    )
