"""Detectors like DETR: a backbone, an encoder and a decoder of queries (arXiv:2005.12872)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Self, TypeVar

from hfcount.architectures.keys import named
from hfcount.architectures.layers.attention import multi_head
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.model import Heads, decoder_spec, labels
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.sizes import dim
from hfcount.architectures.layers.stacks import uniform
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, size
from hfcount.spec import Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Tied, block

Own = TypeVar("Own")


UNSHAPED = (
    *("anchor_image_size", "eval_size", "positional_encoding_temperature"),
    *("use_focal_loss", "with_box_refine"),
)
"""Keys of RT-DETR and those like it that bear on no shape."""


def detecting(
    c: Config, heads: Heads, backbone: Spec, own: Own, *, parts: Mapping[str, Spec] | None = None, inside: str = ""
) -> Spec[Own]:
    """An encoder and a decoder over a backbone; `own` are the sizes of their architecture.

    `inside` is the key of the encoder's width, if it differs.
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


_NAMED = 64  # layers whose second names are known: each is written out


def perceptron(*widths: int, component: Component = "other") -> Block:
    """A network through these widths. Tensors: layers, numbered, with biases."""
    layers = {str(place): Linear(into, out, True) for place, (into, out) in enumerate(pairwise(widths))}
    return block(component, layers=Block(layers))


def detr_layer(d: int, layer: Layer, crossed: Block | bool = False) -> Block:
    """A layer as DETR names it, with attention to the encoder if `crossed`, or with `crossed` for it.

    Tensors: self_attn with out_proj, encoder_attn, fc1 (d_ff, d), fc2 (d, d_ff), and a norm behind each.
    """
    attention, norm = square_attention(d, out="out_proj"), layer_norm(d)
    between: dict[str, Node] = {"encoder_attn_layer_norm": norm} if crossed else {}
    if crossed:
        between = {"encoder_attn": attention if crossed is True else crossed, **between}
    return Block(
        {
            "self_attn": attention,
            "self_attn_layer_norm": norm,
            **between,
            **fc(d, layer.dense.width),
            "final_layer_norm": norm,
        }
    )


def named_attention(d: int) -> Block:
    """Attention whose projections are called in full. Tensors: query, key, value and out_proj, each (d, d)."""
    square = Linear(d, d, True)
    return block("attention", query=square, key=square, value=square, out_proj=square)


def sampling(d: int, points: int, heads: int, **more: Node) -> Block:
    """Deformable attention, to few places of each level (arXiv:2010.04159), `points` in all for each head.

    Tensors: sampling_offsets (2·h·points, d), attention_weights (h·points, d), value_proj and output_proj (d, d).
    """
    square = Linear(d, d, True)
    return block(
        "attention",
        sampling_offsets=Linear(d, heads * points * 2, True),
        attention_weights=Linear(d, heads * points, True),
        value_proj=square,
        output_proj=square,
        **more,
    )


def mask_head(d: int, heads: int, levels: Sequence[int]) -> Block:
    """DETR's head for masks: attention of queries to places, and convolutions over ever finer features.

    Tensors: mask_head with lay1 to lay5, gn1 to gn5, adapter1 to adapter3 and out_lay; bbox_attention with q_linear
    and k_linear (d, d).
    """
    widths, steps = [d + heads, d + heads, d // 2, d // 4, d // 8, d // 16], dict[str, Block]()
    for number, (into, out) in enumerate(pairwise(widths), 1):
        steps |= {f"lay{number}": conv(into, out, 3, bias=True), f"gn{number}": layer_norm(out)}
    for number, width in enumerate(levels, 1):
        steps[f"adapter{number}"] = conv(width, widths[number + 1], 1, bias=True)
    steps["out_lay"] = conv(widths[-1], 1, 3, bias=True)
    square = Linear(d, d, True)
    return block("other", mask_head=Block(steps), bbox_attention=block(q_linear=square, k_linear=square))


def tied_perceptron(to: str, *widths: int) -> Block:
    """Second names of a `perceptron` called `to`."""
    layers: dict[str, Node] = {}
    for place, (into, out) in enumerate(pairwise(widths)):
        name = f"{to}.layers.{place}"
        layers[str(place)] = (Tied(f"{name}.weight", (out, into)), Tied(f"{name}.bias", (out,), name="bias"))
    return block("other", layers=Block(layers))


def leveled(widths: Sequence[int], d: int, levels: int) -> Block:
    """Features of a backbone as `d` channels, and further levels made of the last; if one level is asked for, the last.

    Tensors: 0 (d, width, 1, 1) or (d, width, 3, 3), and 1 (d), with biases.
    """
    steps = [(width, 1) for width in widths] if levels > 1 else [(widths[-1], 1)]
    steps += [(d if place else widths[-1], 3) for place in range(max(0, levels - len(widths)) if levels > 1 else 0)]
    made = {
        str(place): Block({"0": conv(into, d, side, bias=True), "1": layer_norm(d)})
        for place, (into, side) in enumerate(steps)
    }
    return Block(made, "projector")


def second_names(count: int, classes: int, *widths: int) -> dict[str, Node]:
    """Second names of the predictions of each layer of `model.decoder`, which the model around it has, too."""
    where, known = "model.decoder", [str(place) for place in range(min(int(count), _NAMED))]
    inputs = widths[0]
    labels: dict[str, Node] = {
        place: (
            Tied(f"{where}.class_embed.{place}.weight", (classes, inputs), "other"),
            Tied(f"{where}.class_embed.{place}.bias", (classes,), "other", name="bias"),
        )
        for place in known
    }
    boxes = {place: tied_perceptron(f"{where}.bbox_embed.{place}", *widths) for place in known}
    return {"class_embed": Block(labels), "bbox_embed": Block(boxes)}


class Levels(Record):
    """Features of a backbone, of these widths, as `count` levels."""

    widths: tuple[int, ...]
    count: int

    @classmethod
    def read(cls, c: Config, backbone: Spec) -> Self:
        """Those that backbone_config chooses."""
        widths = tuple(channels(chosen(c.part("backbone_config")), backbone))
        return cls(widths=widths, count=dim("n_l", c.int("num_feature_levels", maximum=64)))

    def tensors(self, d: int) -> Block:
        """Projections to `d` channels, and further levels made of the last; see `leveled`."""
        return leveled(self.widths, d, int(self.count))


def learned_places(c: Config) -> bool:
    """Whether the places in an image are learned, and not computed."""
    return c.choice("position_embedding_type", ("sine", "learned"), "sine") == "learned"


class LearnedQueries(Sizes):
    """DETR's queries, and the widths of the features of the stages that the backbone gives."""

    widths: tuple[int, ...]
    num_queries: int = size("n_q")
    learned: bool = derived(learned_places)


def learned_queries(c: Config, backbone: Spec) -> Spec[LearnedQueries]:
    """DETR and those with its keys: learned queries, and features of the stages that the backbone names."""
    heads = named(ForObjectDetection="object_detection", Model="base", ForSegmentation="panoptic_segmentation")
    widths = channels(chosen(c.part("backbone_config")) if c.given("backbone_config") else [1, 2, 3, 4], backbone)
    sizes = LearnedQueries.read(c, widths=tuple(widths))
    return detecting(c, heads, backbone, sizes)
