"""Detectors like DETR: a backbone, an encoder and a decoder of queries (arXiv:2005.12872)."""

from collections.abc import Mapping
from typing import TypeVar

from hfcount.architectures.keys.attention import multi_head
from hfcount.architectures.keys.layers import uniform
from hfcount.architectures.keys.model import Heads, decoder_spec, labels
from hfcount.architectures.keys.sizes import dim
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Layers, Spec

Own = TypeVar("Own")

NAMED_STEMS = ("stem", "act", "act1", "relu")


UNSHAPED = (
    *("anchor_image_size", "eval_size", "positional_encoding_temperature"),
    *("use_focal_loss", "with_box_refine"),
)
"""Keys of RT-DETR and those like it that bear on no shape."""


def chosen(c: Config) -> list[int]:
    """Which features a backbone gives, by their numbers, of which 0 is the stem's; -1, the last, if nothing says so."""
    names = c.strs("out_features")
    if not names:
        return [int(place) for place in c.ints("out_indices")] or [-1]
    found = []
    for name in names:
        number = name.lstrip("abcdefghijklmnopqrstuvwxyz.") or "0"
        if name not in NAMED_STEMS and not (number.isdecimal() and len(number) < 9):
            raise c.error("unknown-kind", "out_features must be names of stages.", "out_features")
        found.append(0 if name in NAMED_STEMS else int(number))
    if found != sorted(set(found)):
        raise c.error("list-length", "out_features must name each stage once, in order.", "out_features", "Correct it.")
    return found


def channels(places: list[int], backbone: Spec) -> list[int]:
    """The widths of these features of a backbone."""
    stages = [one.layer.stage_width for one in backbone.layers if one.layer.stage_width is not None]
    if not stages:
        return [backbone.hidden for _ in places]
    widths = backbone.features or (stages[0], *stages)
    found = [widths[place] for place in places if -len(widths) <= place < len(widths)]
    return found or [backbone.hidden]


def detecting(
    c: Config, heads: Heads, backbone: Spec, own: Own, *, parts: Mapping[str, Spec] | None = None, inside: str = ""
) -> Spec[Own]:
    """An encoder and a decoder over a backbone, which have what is `own` to their architecture.

    `inside` is the key of the encoder's width, if it has its own.
    """
    d = c.int("d_model", "hidden_size")
    wide = dim("d_e", c.int(inside)) if inside else d

    def layers(side: str) -> tuple[Layers, ...]:
        mixer = multi_head(c, wide if side == "encoder" else d, c.int(f"{side}_attention_heads"), indivisible="built")
        layer = Layer(mixer=mixer, ffn=Dense(width=c.int(f"{side}_ffn_dim"), bias=True))
        return tuple(uniform(layer, c.int(f"{side}_layers", maximum=MAX_LAYERS)))

    encoder = Spec(family=c.family, hidden=wide, layers=layers("encoder"), causal=False)
    inner = {"encoder": encoder, "backbone": backbone, **(parts or {})}
    whole = decoder_spec(c, layers("decoder"), vocab=0, hidden=d, layer_count=None, heads=heads)
    # Widths of the backbone are its own sizes, too: they keep their symbols, as it gets its place after them.
    return whole.replace(causal=False, labels=labels(c, 2)).having(own).replace(parts=inner)
