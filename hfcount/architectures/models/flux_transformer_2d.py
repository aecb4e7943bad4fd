"""The transformer of Flux, over patches of latents and text side by side (Black Forest Labs, 2024)."""

from hfcount.architectures.components.flux import Flux, modulation
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, optional, part, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# diffusers 0.42.1: transformer_flux.py, embeddings.py, normalization.py
MODEL_TYPES = ("FluxTransformer2DModel",)


class FluxTransformer2D(Sizes):
    flux: Flux = part(Flux)
    patch_size: int = size("P")
    out_channels: int | None = optional("C_o", minimum=0)


def spec(c: Config) -> Spec[FluxTransformer2D]:
    sizes = FluxTransformer2D.read(c)
    return diffusion.diffusing(c, sizes, sizes.flux.width)


def blueprint(s: Spec[FluxTransformer2D]) -> Block:
    of, d = s.own, s.hidden
    outputs = of.patch_size * of.patch_size * (of.out_channels or of.flux.in_channels)
    return block(**of.flux.tensors(), norm_out=modulation(d, 2), proj_out=Linear(d, outputs, True, "lm_head"))
