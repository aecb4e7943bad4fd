"""UVDoc: flattens the picture of a page by a grid of points that convolutions find (arXiv:2302.02887)."""

from collections.abc import Callable, Sequence
from typing import Any

from hfcount.architectures import families, keys
from hfcount.architectures.layers.convolution import batch_norm, conv, normed
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Record, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("uvdoc", "uvdoc_backbone")  # transformers 5.23: modeling_uvdoc.py
IGNORED = ("depths", "out_indices")

_HEADS = {"uvdoc": keys.named(("Model",)), "uvdoc_backbone": keys.named(Backbone="backbone")}
_LETTERS = {"resnet_head": "h", "resnet_configs": "r", "stage_configs": "s", "out_point_positions2D": "o"}
_SMALL = 3  # the kernel between backbone and head


class Convolution(Record):
    """The channels of a convolution; `coarser` says whether one beside it makes the image smaller."""

    inputs: int
    outputs: int
    coarser: bool = False


class UvdocBackbone(Sizes):
    """Sizes specific to UVDoc's backbone; `bridges` are the channels of each of their convolutions."""

    kernel_size: int = size("w")
    head: tuple[Convolution, ...] = derived(lambda c: _listed(c, "resnet_head", 2, [c.entries("resnet_head")])[0])
    stages: tuple[tuple[Convolution, ...], ...] = derived(
        lambda c: _listed(c, "resnet_configs", 4, c.entries("resnet_configs"))
    )
    bridges: tuple[tuple[Convolution, ...], ...] = derived(
        lambda c: _listed(c, "stage_configs", 2, c.entries("stage_configs"))
    )


class Uvdoc(Record):
    """Sizes specific to UVDoc: what its bridge takes of each of the backbone's, and how it makes points."""

    kernel_size: int
    bridge: int
    points: tuple[Convolution, ...]
    rectified: bool


def spec(c: Config) -> Spec[Uvdoc | UvdocBackbone]:
    heads, why = _HEADS[c.family], keys.COARSER
    if c.family == "uvdoc_backbone":
        sizes = UvdocBackbone.read(c)
        return keys.imaging(c, (), heads, hidden=sizes.head[-1].outputs, uncounted=why).having(sizes)
    c.choice("padding_mode", ("zeros", "reflect", "replicate", "circular"), "reflect")
    side = keys.dim("w", c.int("kernel_size"))
    vision = families.part(c, "backbone_config", "uvdoc_backbone").replace(head="backbone")
    inputs, outputs = keys.each(c, "bridge_connector", 2, "C")
    (points,) = _listed(c, "out_point_positions2D", 2, [c.entries("out_point_positions2D")])
    if len(points) < 2:
        raise c.error("list-length", "out_point_positions2D must name two pairs of channels.", "out_point_positions2D")
    rectified = c.str("hidden_act", default="prelu") == "prelu"
    model = keys.imaging(c, (), heads, hidden=outputs, parts={"backbone": vision}, uncounted=why)
    return model.having(Uvdoc(kernel_size=side, bridge=inputs, points=points, rectified=rectified))


def _listed(c: Config, key: str, length: int, groups: Sequence[Any]) -> tuple[tuple[Convolution, ...], ...]:
    """What a key lists, by groups: two channels, and in some lists a dilation and whether it is coarser."""
    stages, count, letter = list[tuple[Convolution, ...]](), 0, _LETTERS[key]
    for group, entries in enumerate(groups):
        if not isinstance(entries, list) or not entries or not all(_fits(entry, length) for entry in entries):
            raise c.malformed(f"{key} must name lists of {length} whole numbers or switches.", key)
        made = list[Convolution]()
        for place, entry in enumerate(entries):
            if any(type(size) is not int or not 0 < size < 2**32 for size in entry[:2]):
                raise c.error("out-of-range", f"{key} must name channels above 0.", key)
            count += 1
            at = f"[{group}][{place}]" if groups is c.value(key) else f"[{place}]"
            before, after = (
                Dim.named(f"{letter}_{name}{count}", entry[number], c.source(key, f"{at}[{number}]"))
                for number, name in enumerate("ab")
            )
            made.append(Convolution(inputs=before, outputs=after, coarser=length > 2 and bool(entry[-1])))
        stages.append(tuple(made))
    return tuple(stages)


def _fits(given: Any, length: int) -> bool:
    return isinstance(given, list) and len(given) == length and all(type(value) in (int, bool) for value in given)


def blueprint(s: Spec[Uvdoc | UvdocBackbone]) -> Block:
    return _backbone(s.own) if isinstance(s.own, UvdocBackbone) else _whole(s, s.own)


def _backbone(of: UvdocBackbone) -> Block:
    side = of.kernel_size

    def residual(convolution: Convolution) -> Block:
        first = normed(convolution.inputs, convolution.outputs, side, bias=True)
        last = normed(convolution.outputs, convolution.outputs, side, bias=True)
        return block(conv_down=first if convolution.coarser else None, conv_start=first, conv_final=last)

    def numbered(build: Callable[[Convolution], Block], group: tuple[Convolution, ...]) -> Block:
        return Block({str(place): build(convolution) for place, convolution in enumerate(group)})

    stages = {str(n): block(layers=numbered(residual, group)) for n, group in enumerate(of.stages)}
    bridges = {
        str(n): block(
            blocks=numbered(lambda convolution: normed(convolution.inputs, convolution.inputs, _SMALL), group)
        )
        for n, group in enumerate(of.bridges)
    }
    head = numbered(lambda convolution: normed(convolution.inputs, convolution.outputs, side), of.head)
    return block(resnet=block(resnet_head=head, resnet_down=Block(stages)), bridge=block(bridge=Block(bridges)))


def _whole(s: Spec, of: Uvdoc) -> Block:
    backbone, side = s.part("backbone"), of.kernel_size
    inputs = of.bridge * len(backbone.sizes(UvdocBackbone).bridges)
    down, up = of.points[:2]
    slope = block("convolution", weight=Tensor((1,))) if of.rectified else None
    narrowed = block(
        convolution=conv(down.inputs, down.outputs, side), normalization=batch_norm(down.outputs), activation=slope
    )
    points = block(conv_down=narrowed, conv_up=conv(up.inputs, up.outputs, side, bias=True))
    head = block(bridge_connector=normed(inputs, s.hidden, 1), out_point_positions2D=points)
    return block(backbone=families.tree(backbone), head=head)
