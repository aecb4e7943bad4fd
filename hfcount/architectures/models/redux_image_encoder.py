"""FLUX.1 Redux: it makes an embedding of an image one that stands for a text (Black Forest Labs, 2024)."""

from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# diffusers 0.42.1: modeling_flux.py
MODEL_TYPES = ("ReduxImageEncoder",)


class Redux(Sizes):
    redux_dim: int = size("d_r")
    txt_in_features: int = size("d_t")


def spec(c: Config) -> Spec[Redux]:
    sizes = Redux.read(c)
    return diffusion.diffusing(c, sizes, sizes.txt_in_features)


def blueprint(s: Spec[Redux]) -> Block:
    d, wide = s.hidden, 3 * s.hidden
    return block("projector", redux_up=Linear(s.own.redux_dim, wide, True), redux_down=Linear(wide, d, True))
