"""UVDoc: flattens the picture of a page by a grid of points that convolutions find (arXiv:2302.02887)."""

from collections.abc import Sequence
from typing import Any

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.convolution import batch_norm, conv, normed
from hfcount.spec import Spec
from hfcount.tree.dims import Dim
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("uvdoc", "uvdoc_backbone")  # transformers 5.23: modeling_uvdoc.py
IGNORED = ("depths", "out_indices")

_HEADS = {"uvdoc": keys.named(("Model",)), "uvdoc_backbone": keys.named(Backbone="backbone")}
_LETTERS = {"resnet_head": "h", "resnet_configs": "r", "stage_configs": "s", "out_point_positions2D": "o"}
_SMALL = 3  # the kernel between backbone and head


def spec(c: Config) -> Spec:
    side, heads, why = keys.sized("w", c.int("kernel_size")), _HEADS[c.family], keys.COARSER
    if c.family == "uvdoc_backbone":
        traits = {"kernel_size": side, **_listed(c, "resnet_head", 2, [c.entries("resnet_head")])}
        traits |= _listed(c, "resnet_configs", 4, c.entries("resnet_configs"))
        traits |= _listed(c, "stage_configs", 2, c.entries("stage_configs"))
        last = traits["resnet_head.0.count"] - 1
        return keys.imaging(c, (), heads, hidden=traits[f"resnet_head.0.{last}.1"], traits=traits, uncounted=why)
    seen = families.part(c, "backbone_config", "uvdoc_backbone").but(head="backbone")
    inputs, outputs = keys.each(c, "bridge_connector", 2, "C")
    points = _listed(c, "out_point_positions2D", 2, [c.entries("out_point_positions2D")])
    if points["out_point_positions2D.0.count"] < 2:
        raise c.error("out_point_positions2D must name two pairs of channels.", "out_point_positions2D")
    traits = {
        "kernel_size": side,
        "bridge": inputs,
        **points,
        "rectified": c.str("hidden_act", default="prelu") == "prelu",
    }
    return keys.imaging(c, (), heads, hidden=outputs, parts={"backbone": seen}, traits=traits, uncounted=why)


def _listed(c: Config, key: str, length: int, groups: Sequence[Any]) -> dict[str, int]:
    """The traits KEY.GROUP.PLACE.NUMBER of what a key lists, and the counts KEY.count and KEY.GROUP.count."""
    traits, count, letter = {f"{key}.count": len(groups)}, 0, _LETTERS[key]
    for group, entries in enumerate(groups):
        if not isinstance(entries, list) or not entries or not all(_fits(one, length) for one in entries):
            raise c.error(f"{key} must name lists of {length} whole numbers or switches.", key, code="HF001")
        traits[f"{key}.{group}.count"] = len(entries)
        for place, one in enumerate(entries):
            if any(type(size) is not int or not 0 < size < 2**32 for size in one[:2]):
                raise c.error(f"{key} must name channels above 0.", key)
            count += 1
            at = f"[{group}][{place}]" if groups is c.value(key) else f"[{place}]"
            for number, value in enumerate(one):
                name, found = f"{letter}_{'ab'[number % 2]}{count}", c.source(key, f"{at}[{number}]")
                size = Dim.named(name, value, found) if number < 2 else int(value)
                traits[f"{key}.{group}.{place}.{number}"] = size
    return traits


def _fits(given: Any, length: int) -> bool:
    return isinstance(given, list) and len(given) == length and all(type(one) in (int, bool) for one in given)


def blueprint(s: Spec) -> Block:
    of = s.traits
    return _backbone(of) if s.family == "uvdoc_backbone" else _whole(s)


def _backbone(of: Any) -> Block:
    side = of["kernel_size"]

    def group(key: str, number: int) -> range:
        return range(of[f"{key}.{number}.count"])

    def residual(stage: int, place: int) -> Block:
        before, after, _, coarser = (of[f"resnet_configs.{stage}.{place}.{number}"] for number in range(4))
        first = normed(before, after, side, bias=True)
        return block(
            conv_down=first if coarser else None, conv_start=first, conv_final=normed(after, after, side, bias=True)
        )

    def start(place: int) -> Block:
        return normed(of[f"resnet_head.0.{place}.0"], of[f"resnet_head.0.{place}.1"], side)

    def bridge(stage: int, place: int) -> Block:
        width = of[f"stage_configs.{stage}.{place}.0"]
        return normed(width, width, _SMALL)

    stages = {
        str(n): block(layers=Block({str(place): residual(n, place) for place in group("resnet_configs", n)}))
        for n in range(of["resnet_configs.count"])
    }
    bridges = {
        str(n): block(blocks=Block({str(place): bridge(n, place) for place in group("stage_configs", n)}))
        for n in range(of["stage_configs.count"])
    }
    head = Block({str(place): start(place) for place in group("resnet_head", 0)})
    return block(resnet=block(resnet_head=head, resnet_down=Block(stages)), bridge=block(bridge=Block(bridges)))


def _whole(s: Spec) -> Block:
    of, seen, side = s.traits, s.parts["backbone"], s.traits["kernel_size"]
    inputs = of["bridge"] * seen.traits["stage_configs.count"]
    (first, middle), (again, last) = (
        [of[f"out_point_positions2D.0.{place}.{number}"] for number in range(2)] for place in range(2)
    )
    slope = block("convolution", weight=Tensor((1,))) if of["rectified"] else None
    down = block(convolution=conv(first, middle, side), normalization=batch_norm(middle), activation=slope)
    points = block(conv_down=down, conv_up=conv(again, last, side, bias=True))
    head = block(bridge_connector=normed(inputs, s.hidden, 1), out_point_positions2D=points)
    return block(backbone=families.tree(seen), head=head)
