"""CLIPSeg: CLIP, with a small decoder that marks in an image what a text names (arXiv:2112.10003)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import stack
from hfcount.architectures.layers.composite import paired
from hfcount.architectures.layers.vision import clip_layer, convolution
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("clipseg",)  # transformers 5.23: modeling_clipseg.py
IGNORED = ("decoder_num_attention_heads", "conditional_layer")

_HEADS = keys.named(ForImageSegmentation="image_segmentation", Model="base")


class Clipseg(Sizes):
    reduce_dim: int = size("r")
    decoder_intermediate_size: int = size("d_rf")
    extract_layers: int
    complex: bool = flag("use_complex_transposed_convolution", absent=False)


def spec(c: Config) -> Spec[Clipseg]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    depth = c.length("extract_layers") or 0
    sizes = Clipseg.read(c, extract_layers=keys.dim("N_r", depth))
    out = c.int("projection_dim")
    return keys.composite(c, text, towers, heads=_HEADS, out=out).replace(tied=False).having(sizes)


def blueprint(s: Spec[Clipseg]) -> Block:
    clip = paired(s, families.base(s), families.tower(s, "vision"))
    return clip if s.head == "base" else block(clip=clip, decoder=_decoder(s))


def _decoder(s: Spec[Clipseg]) -> Block:
    r, out, side = s.own.reduce_dim, s.out or s.hidden, s.part("vision").seen.side
    every = Indices.below(s.own.extract_layers)
    layer = Layer(ffn=Dense(width=s.own.decoder_intermediate_size, bias=True))
    film = Linear(out, r, True)
    last = block(weight=Tensor((r, 1, side, side)), bias=Tensor((1,)))
    if s.own.complex:
        half, quarter = r // 2, side // 4
        first = block(weight=Tensor((r, half, quarter, quarter)), bias=Tensor((half,)))
        second = block(weight=Tensor((half, 1, quarter, quarter)), bias=Tensor((1,)))
        last = Block({"0": convolution(r, r, 3), "2": first, "4": second})
    return block(
        "other",
        film_mul=film,
        film_add=film,
        transposed_convolution=last,
        reduces=Repeat(every, Linear(s.part("vision").hidden, r, True)),
        layers=stack((Layers(indices=every, layer=layer),), lambda layer: clip_layer(r, layer)),
    )
