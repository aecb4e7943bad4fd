"""SAM 3's image encoder: a backbone, and a neck that scales its features to several resolutions (arXiv:2511.16719)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.convolution import transposed
from hfcount.architectures.layers.vision import convolution, patch_convolution, square_attention
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("sam3_vision_model",)  # transformers 5.23: modeling_sam3.py
IGNORED = ("backbone_feature_sizes",)

_DOUBLINGS = {4.0: 2, 2.0: 1, 1.0: 0, 0.5: 0}


class Sam3VisionModel(Record):
    """Sizes specific to SAM 3's image encoder: how often the features are doubled at each level."""

    doublings: tuple[int, ...]


def spec(c: Config) -> Spec[Sam3VisionModel]:
    factors = c.entries("scale_factors") if c.given("scale_factors") else [4.0, 2.0, 1.0, 0.5]
    if any(not isinstance(factor, int | float) or factor not in _DOUBLINGS for factor in factors):
        raise c.error("list-length", "scale_factors must be a list of 4, 2, 1 and 0.5.", "scale_factors")
    sizes = Sam3VisionModel(doublings=tuple(_DOUBLINGS[factor] for factor in factors))
    parts, d = {"backbone": families.part(c, "backbone_config")}, keys.dim("d_n", c.int("fpn_hidden_size"))
    return keys.encoding(c, (), hidden=d, parts=parts).having(sizes)


def blueprint(s: Spec[Sam3VisionModel]) -> Block:
    vision_width, levels = s.part("backbone").hidden, dict[str, Block]()
    for place, doublings in enumerate(s.own.doublings):
        width, scaled = vision_width, dict[str, Block]()
        for step in range(doublings):
            scaled[str(2 * step)] = transposed(width, width // 2, 2)
            width = width // 2
        projections = block(proj1=convolution(width, s.hidden, 1), proj2=convolution(s.hidden, s.hidden, 3))
        levels[str(place)] = Block({"scale_layers": Block(scaled), **projections.children})
    neck = block("projector", fpn_layers=Block(levels))
    return block(backbone=families.tree(s.part("backbone")), neck=neck)


def vit_spec(c: Config) -> Spec:
    """SAM 3's ViT: attention within windows, everywhere in a few layers, with rotary positions (arXiv:2511.16719)."""
    side, image = c.int("patch_size"), c.int("pretrain_image_size")
    across = image // side  # what is left over is as no pixel of the table: it is tiled to any image
    if not across:
        text = f"pretrain_image_size is {image:,}, less than patch_size, which is {side:,}."
        c.cannot_run("out-of-range", text, "pretrain_image_size", "Correct one of them.")
    return keys.tower(c, patches=keys.patches(c), positions=across * across, indivisible="built")


def vit_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        norm, network = layer_norm(d), mlp(d, layer.dense.width)
        return block(layer_norm1=norm, attention=square_attention(d), layer_norm2=norm, mlp=network)

    table = Tensor((1, s.positions or 0, d))
    patches = block(projection=patch_convolution(s, bias=False))
    return block(
        embeddings=block("embedding", position_embeddings=table, patch_embeddings=patches),
        layer_norm=layer_norm(d),
        layers=stack(s.layers, layer_block),
    )


PARTS = (
    families.Family(
        ("sam3_vit_model",),
        vit_spec,
        vit_blueprint,
        ignored=("image_size", "window_size", "global_attn_indexes", "layer_scale_init_value"),
    ),
)
