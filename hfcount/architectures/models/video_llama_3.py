"""VideoLLaMA 3: a vision tower and two projections before any language model (arXiv:2501.13106)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.video_llama import vision_blueprint
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("video_llama_3",)  # transformers 5.23: modeling_video_llama_3.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    heads, tied = ("ForConditionalGeneration", "Model"), keys.tied_anywhere(c, c.part("text_config"))
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    projector = block("projector", readout=Block({"0": Linear(vision_width, d, True), "2": Linear(d, d, True)}))
    return towers_in_model(s, families.base(s), vision_model=families.tower(s, "vision"), projector=projector)


def vision_spec(c: Config) -> Spec:
    """VideoLLaMA 3's vision tower: SigLIP's layers with rotary positions, for images of any size (arXiv:2501.13106)."""
    return keys.tower(c, patches=keys.patches(c))


PARTS = (families.Family(("video_llama_3_vision",), vision_spec, vision_blueprint),)
