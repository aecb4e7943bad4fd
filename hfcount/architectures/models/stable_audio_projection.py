"""What embeds a text, and the start and the end of a sound, for Stable Audio (arXiv:2407.14358)."""

from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("StableAudioProjectionModel",)  # diffusers 0.42.1: modeling_stable_audio.py

_FEATURES = 256
"""The features of a number: sines and cosines of learned frequencies."""


class StableAudioProjection(Sizes):
    text_encoder_dim: int = size("d_t")
    conditioning_dim: int = size("d")


def spec(c: Config) -> Spec[StableAudioProjection]:
    for key in ("min_value", "max_value"):
        c.number(key, zero=True)
    sizes = StableAudioProjection.read(c)
    return diffusion.diffusing(c, sizes, sizes.conditioning_dim)


def blueprint(s: Spec[StableAudioProjection]) -> Block:
    d, text = s.hidden, s.own.text_encoder_dim
    waves = block(weights=Tensor((_FEATURES // 2,)))
    number = Block({"0": waves, "1": Linear(_FEATURES + 1, d, True)}, "embedding")
    return block(
        text_projection=None if text == d else Linear(text, d, True, "projector"),
        start_number_conditioner=block(time_positional_embedding=number),
        end_number_conditioner=block(time_positional_embedding=number),
    )
