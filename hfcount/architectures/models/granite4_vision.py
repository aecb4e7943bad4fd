"""Granite 4 Vision: windows of patches, each read by a Q-Former, for several layers of Granite (arXiv:2502.09927)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("granite4_vision",)  # transformers 5.23: modeling_granite4_vision.py
IGNORED = ("image_grid_pinpoints", "image_seq_length", "spatial_target_layers", "spatial_vision_layer")
_HEAD = 64  # the width of a head of the Q-Former
_OFFSETS = 4  # of windows, each with a Q-Former


class Granite4Vision(Sizes):
    query: int
    window: int
    deepstack_layer_map: int


def spec(c: Config) -> Spec[Granite4Vision]:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config")
    sides = c.str("downsample_rate").split("/")
    if len(sides) != 2 or not all(side.isdecimal() and 0 < int(side) < 1 << 16 for side in sides):
        raise c.error("list-length", "downsample_rate must be two sides, such as 4/8.", "downsample_rate")
    sizes = Granite4Vision.read(
        c,
        query=keys.dim("m_q", int(sides[0])),
        window=keys.dim("m_w", int(sides[1])),
        deepstack_layer_map=len(c.entries("deepstack_layer_map")),
    )
    former = _as_wide(families.part(c, "qformer_config"), vision.hidden)
    heads, parts = ("ForConditionalGeneration", "Model"), {"vision": vision, "qformer": former}
    tied = c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, parts, heads=heads).replace(tied=tied).having(sizes)


def _as_wide(former: Spec, width: int) -> Spec:
    """The Q-Former, made as wide as the tower, whatever its own config says."""
    count = width // _HEAD
    mixer = GQA(heads=count, kv_heads=count, head_dim=width // max(count, 1), qkv_bias=True, out_bias=True)
    layers = [layer.replace(layer=layer.layer.replace(mixer=mixer)) for layer in former.layers]
    return keys.attending(former.replace(hidden=width, layers=tuple(layers)), width)


def blueprint(s: Spec[Granite4Vision]) -> Block:
    vision_width, of = s.part("vision").hidden, s.own
    sampler = block(
        "projector",
        query=Tensor((1, of.query * of.query, vision_width)),
        image_positions=Tensor((1, of.window * of.window, vision_width)),
        qformer=families.tree(s.part("qformer")),
        norm=layer_norm(vision_width),
        out_linear=Linear(vision_width, s.hidden, True),
    )
    layers, offsets = Indices.below(of.deepstack_layer_map), Indices.below(_OFFSETS)
    samplers = {
        "layerwise_projectors": Repeat(layers, sampler.replace(repeats=0)),
        "spatial_projectors": Repeat(offsets, sampler.replace(repeats=0)),
    }
    newline, tower = Tensor((s.hidden,), component="projector"), families.tower(s, "vision")
    return towers_in_model(s, families.base(s), vision_tower=tower, image_newline=newline, **samplers)
