"""CLIPSeg: CLIP, with a small decoder that marks in an image what a text names (arXiv:2112.10003)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import stack
from hfcount.parts.composite import paired
from hfcount.parts.vision import clip_layer, convolution
from hfcount.spec import Dense, Layer, Layers, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("clipseg",)  # transformers 5.23: modeling_clipseg.py
IGNORED = ("decoder_num_attention_heads", "conditional_layer")

_HEADS = keys.named(ForImageSegmentation="image_segmentation", Model="base")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    depth = c.length("extract_layers") or 0
    traits = {
        "reduce_dim": keys.sized("r", c.int("reduce_dim")),
        "decoder_intermediate_size": keys.sized("d_rf", c.int("decoder_intermediate_size")),
        "extract_layers": keys.sized("N_r", depth),
        "complex": c.bool("use_complex_transposed_convolution", default=False),
    }
    out = c.int("projection_dim")
    return keys.around(c, text, towers, heads=_HEADS, out=out, traits=traits).but(tied=False)


def blueprint(s: Spec) -> Block:
    clip = paired(s, families.base(s), families.tower(s, "vision"))
    return clip if s.head == "base" else block(clip=clip, decoder=_decoder(s))


def _decoder(s: Spec) -> Block:
    r, out, side = s.traits["reduce_dim"], s.out or s.hidden, s.parts["vision"].seen.side
    every = Indices.below(s.traits["extract_layers"])
    layer = Layer(ffn=Dense(width=s.traits["decoder_intermediate_size"], bias=True))
    film = Linear(out, r, True)
    last = block(weight=Tensor((r, 1, side, side)), bias=Tensor((1,)))
    if s.traits["complex"]:
        half, quarter = r // 2, side // 4
        first = block(weight=Tensor((r, half, quarter, quarter)), bias=Tensor((half,)))
        second = block(weight=Tensor((half, 1, quarter, quarter)), bias=Tensor((1,)))
        last = Block({"0": convolution(r, r, 3), "2": first, "4": second})
    return block(
        "other",
        film_mul=film,
        film_add=film,
        transposed_convolution=last,
        reduces=Repeat(every, Linear(s.parts["vision"].hidden, r, True)),
        layers=stack((Layers(indices=every, layer=layer),), lambda one: clip_layer(r, one)),
    )
