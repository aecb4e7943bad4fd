"""T2I-Adapter: a small network that steers a U-Net by an image (arXiv:2302.08453)."""

from itertools import pairwise

from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv, numbered
from hfcount.mapper import Config, Sizes, count, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, block

# diffusers 0.42.1: adapter.py
MODEL_TYPES = ("T2IAdapter",)

_FULL, _LARGE, _LIGHT = _KINDS = ("full_adapter", "full_adapter_xl", "light_adapter")


class T2IAdapter(Sizes):
    widths: tuple[int, ...]
    in_channels: int = size("C_i")
    downscale_factor: int = size("f")
    num_res_blocks: int = count("L", minimum=0)
    kind: str = derived(lambda c: c.choice("adapter_type", _KINDS))


def spec(c: Config) -> Spec[T2IAdapter]:
    widths = diffusion.stage_widths(c, "channels")
    return diffusion.diffusing(c, T2IAdapter.read(c, widths=widths), widths[-1])


def blueprint(s: Spec[T2IAdapter]) -> Block:
    of, widths = s.own, s.own.widths
    inputs = of.in_channels * of.downscale_factor * of.downscale_factor
    if of.kind == _LIGHT:
        pairs = pairwise((inputs, *widths, widths[-1]))
        return block(adapter=block(body=numbered([_light(before, d, of.num_res_blocks) for before, d in pairs])))
    before = (widths[0], *widths)
    if of.kind == _LARGE:  # of which the second and third stage alone read what is as wide as the one before
        before = tuple(widths[place - 1] if place in (1, 2) else d for place, d in enumerate(widths))
    stages = [_stage(inner, d, of.num_res_blocks) for inner, d in zip(before, widths, strict=False)]
    return block(adapter=block(conv_in=conv(inputs, widths[0]), body=numbered(stages)))


def _stage(before: int, d: int, layers: int) -> Block:
    return block(
        in_conv=None if before == d else conv(before, d, 1),
        resnets=Repeat(Indices.below(layers), block(block1=conv(d, d), block2=conv(d, d, 1))),
    )


def _light(before: int, d: int, layers: int) -> Block:
    inner = d // 4
    return block(
        in_conv=conv(before, inner, 1),
        resnets=Repeat(Indices.below(layers), block(block1=conv(inner, inner), block2=conv(inner, inner))),
        out_conv=conv(inner, d, 1),
    )
