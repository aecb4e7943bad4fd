"""ControlNet of Flux: a few of its blocks, which steer those of the model (arXiv:2302.05543)."""

from hfcount.architectures.components.flux import Flux
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import hint
from hfcount.mapper import Config, Sizes, optional, part
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# diffusers 0.42.1: controlnet_flux.py, controlnet.py, transformer_flux.py
MODEL_TYPES = ("FluxControlNetModel",)

_HINTS = (16, 16, 16, 16)  # the widths of the stages that embed the image


class FluxControlNet(Sizes):
    flux: Flux = part(Flux)
    num_mode: int | None = optional("n_m")
    conditioning_embedding_channels: int | None = optional("C_h")


def spec(c: Config) -> Spec[FluxControlNet]:
    sizes = FluxControlNet.read(c)
    return diffusion.diffusing(c, sizes, sizes.flux.width)


def blueprint(s: Spec[FluxControlNet]) -> Block:
    of, d, square = s.own, s.hidden, Linear(s.hidden, s.hidden, True, "projector")
    hinted = of.conditioning_embedding_channels
    return block(
        **of.flux.tensors(),
        controlnet_blocks=Repeat(Indices.below(of.flux.num_layers), square),
        controlnet_single_blocks=Repeat(Indices.below(of.flux.num_single_layers), square),
        controlnet_mode_embedder=None if of.num_mode is None else block("embedding", weight=Tensor((of.num_mode, d))),
        input_hint_block=None if hinted is None else hint(3, _HINTS, hinted),
        controlnet_x_embedder=Linear(of.flux.in_channels, d, True, "embedding"),
    )
