"""ViTMatte: a ViT's features joined with those of few convolutions, for a matte (arXiv:2305.15272)."""

from itertools import pairwise

from hfcount.architectures import families, keys
from hfcount.architectures.layers.convolution import batch_norm, conv, normed
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("vitmatte",)  # transformers 5.23: modeling_vitmatte.py

_HEADS = keys.named(ForImageMatting="base")
_LAST = 16  # the width before a matte


class VitMatte(Record):
    """Sizes specific to ViTMatte: the widths of its stream of convolutions, an image's first, and of what it fuses."""

    stream: tuple[int, ...]
    fused: tuple[int, ...]


def spec(c: Config) -> Spec[VitMatte]:
    backbone, channels = families.backbone(c), c.part("backbone_config").int("num_channels", default=3)
    stream = c.ints("convstream_hidden_sizes", default=(48, 96, 192))
    fused = c.ints("fusion_hidden_sizes", default=(256, 128, 64, 32))
    if len(fused) != len(stream) + 1:
        text = f"fusion_hidden_sizes has {len(fused):,} entries and convstream_hidden_sizes {len(stream):,}."
        raise c.error("list-length", text, "fusion_hidden_sizes", "There is one more of the first.")
    sizes = VitMatte(
        stream=(keys.dim("C", channels), *(keys.dim(f"C{place}", width) for place, width in enumerate(stream, 1))),
        fused=tuple(keys.dim(f"D{place}", width) for place, width in enumerate(fused)),
    )
    d = c.int("hidden_size")
    model = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS)
    return model.replace(causal=False).having(sizes).replace(parts={"backbone": backbone})


def blueprint(s: Spec[VitMatte]) -> Block:
    names, stream, fused = ("conv", "batch_norm"), s.own.stream, [s.hidden, *s.own.fused]
    convs = {str(place): normed(into, out, 3, names=names) for place, (into, out) in enumerate(pairwise(stream))}
    blocks = {
        str(place): block(conv=normed(beside + into, out, 3, names=names))
        for place, (beside, (into, out)) in enumerate(zip(stream[::-1], pairwise(fused), strict=True))
    }
    matte = {"0": conv(fused[-1], _LAST, 3, bias=True), "1": batch_norm(_LAST), "3": conv(_LAST, 1, 1, bias=True)}
    decoder = block(
        "other",
        convstream=block(convs=Block(convs)),
        fusion_blocks=Block(blocks),
        matting_head=block(matting_convs=Block(matte)),
    )
    return block(backbone=families.tree(s.part("backbone")), decoder=decoder)
