"""TextNet: stages of square and oblong convolutions side by side, found by search (arXiv:2111.02394)."""

from typing import Any

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.classic import classifier, headed
from hfcount.parts.convolution import batch_norm, conv, normed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("textnet",)  # transformers 5.23: modeling_textnet.py
IGNORED = ("image_size", "stem_stride", "depths", "out_indices")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")
_SQUARE, _HIGH, _WIDE = [3, 3], [3, 1], [1, 3]
_KERNELS = [
    [_SQUARE, _SQUARE, _SQUARE],
    [_SQUARE, _WIDE, _SQUARE, _HIGH],
    [_SQUARE, _SQUARE, _HIGH, _WIDE],
    [_SQUARE, _HIGH, _WIDE, _SQUARE],
]
_STRIDES = [[1, 2, 1], [2, 1, 1, 1], [2, 1, 1, 1], [2, 1, 1, 1]]


def spec(c: Config) -> Spec:
    kernels, strides = c.entries("conv_layer_kernel_sizes") or _KERNELS, c.entries("conv_layer_strides") or _STRIDES
    widths = keys.each(c, "hidden_sizes", len(kernels) + 1, "d")
    traits = {
        "stem_num_channels": keys.sized("C", c.int("stem_num_channels")),
        "stem_out_channels": keys.sized("d0", c.int("stem_out_channels")),
        "stem_kernel_size": keys.sized("w", c.int("stem_kernel_size")),
        "stages": len(kernels),
    }
    traits |= {f"width.{number}": width for number, width in enumerate(widths)}
    for number, (sides, steps) in enumerate(zip(kernels, strides, strict=False)):
        if not isinstance(sides, list) or not isinstance(steps, list) or not all(map(_is_kernel, sides)):
            said = "conv_layer_kernel_sizes must name a height and a width for each convolution of each stage."
            raise c.error(said, "conv_layer_kernel_sizes", code="HF001")
        traits[f"depth.{number}"] = min(len(sides), len(steps))
        for place, ((high, wide), step) in enumerate(zip(sides, steps, strict=False)):
            traits |= {
                f"high.{number}.{place}": high,
                f"wide.{number}.{place}": wide,
                f"kept.{number}.{place}": step == 1,
            }
    if len(strides) < len(kernels):
        raise c.error("conv_layer_strides has fewer stages than conv_layer_kernel_sizes.", "conv_layer_strides")
    d = keys.sized("d", c.ints("hidden_sizes")[-1])
    return keys.imaging(c, (), _HEADS, hidden=d, traits=traits, uncounted=keys.COARSER)


def _is_kernel(given: Any) -> bool:
    return isinstance(given, list) and len(given) == 2 and all(type(side) is int and side > 0 for side in given)


def blueprint(s: Spec) -> Block:
    of, stages = s.traits, dict[str, Block]()

    def layer(inputs: int, d: int, high: int, wide: int, kept: bool) -> Block:
        tall, broad = wide != 1, high != 1
        return block(
            main_conv=conv(inputs, d, high, wide),
            main_batch_norm=batch_norm(d),
            vertical_conv=conv(inputs, d, high, 1) if tall else None,
            vertical_batch_norm=batch_norm(d) if tall else None,
            horizontal_conv=conv(inputs, d, 1, wide) if broad else None,
            horizontal_batch_norm=batch_norm(d) if broad else None,
            rbr_identity=batch_norm(inputs) if kept and inputs == d else None,
        )

    for number in range(of["stages"]):
        before, d, layers = of[f"width.{number}"], of[f"width.{number + 1}"], dict[str, Block]()
        for place in range(of[f"depth.{number}"]):
            high, wide, kept = (of[f"{name}.{number}.{place}"] for name in ("high", "wide", "kept"))
            layers[str(place)] = layer(before, d, high, wide, bool(kept))
            before = d
        stages[str(number)] = block(stage=Block(layers))
    names, side = ("conv", "batch_norm"), of["stem_kernel_size"]
    stem = normed(of["stem_num_channels"], of["stem_out_channels"], side, names=names)
    body = block(stem=stem, encoder=block(stages=Block(stages)))
    if s.head == "backbone":
        return block(textnet=body)
    return headed(s, "textnet", body, image_classification=block(fc=classifier(s)))
