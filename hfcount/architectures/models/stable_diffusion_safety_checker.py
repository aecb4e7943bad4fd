"""The safety checker of Stable Diffusion 1 and 2: CLIP's vision tower, and concepts that images are held against."""

from hfcount.architectures import families
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# Around what transformers 5.23 has in modeling_clip.py.
# diffusers 0.42.1: safety_checker.py
MODEL_TYPES = ("StableDiffusionSafetyChecker", "SafeStableDiffusionSafetyChecker")
CLASSES = ("StableDiffusionSafetyChecker", "SafeStableDiffusionSafetyChecker")
IGNORED = ("text_config", "text_config_dict", "vision_config_dict")  # CLIP's, of which it takes the tower alone
SPELLINGS = {r"^vision_model\.vision_model\.": "vision_model."}

_CONCEPTS, _SPECIAL = 17, 3  # whatever the config says


class SafetyChecker(Sizes):
    projection_dim: int = size("d_o")


def spec(c: Config) -> Spec[SafetyChecker]:
    c.kind = "clip"  # whose configuration it has
    tower = families.part(c, "vision_config", "clip_vision_model")
    return diffusion.beside(c, SafetyChecker.read(c), tower)


def blueprint(s: Spec[SafetyChecker]) -> Block:
    out = s.own.projection_dim
    return block(
        vision_model=families.tower(s, "vision"),
        visual_projection=Linear(s.hidden, out, component="projector"),
        concept_embeds=Tensor((_CONCEPTS, out)),
        special_care_embeds=Tensor((_SPECIAL, out)),
        concept_embeds_weights=Tensor((_CONCEPTS,)),
        special_care_embeds_weights=Tensor((_SPECIAL,)),
    )
