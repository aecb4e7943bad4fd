"""The safety checker of DeepFloyd IF: CLIP's vision tower with its projection, and two classifiers behind it."""

from hfcount.architectures import families
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# Around what transformers 5.23 has in modeling_clip.py.
# diffusers 0.42.1: safety_checker.py
MODEL_TYPES = ("IFSafetyChecker",)
CLASSES = ("IFSafetyChecker",)


class IFSafetyChecker(Sizes):
    """It has no sizes beside those of its tower."""


def spec(c: Config) -> Spec[IFSafetyChecker]:
    c.kind = "clip"  # whose configuration it has
    tower = families.part(c, "vision_config", "clip_vision_model")
    out = c.part("vision_config").int("projection_dim")
    return diffusion.beside(c, IFSafetyChecker.read(c), tower.replace(head="projection", out=out))


def blueprint(s: Spec[IFSafetyChecker]) -> Block:
    score = Linear(s.part("vision").output, 1, True, "other")
    return block(vision_model=families.tower(s, "vision"), p_head=score, w_head=score)
