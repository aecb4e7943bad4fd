"""Gemma 3: its language model with SigLIP's tower, whose tokens are averaged and projected (arXiv:2503.19786)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("gemma3",)  # transformers 5.23: modeling_gemma3.py
IGNORED = ("mm_tokens_per_image",)
SPELLINGS = LLAVA
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    heads = ("ForConditionalGeneration", "Model", "ForSequenceClassification")
    return keys.composite(c, text, towers, tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    vision_width = s.part("vision").hidden
    weight = Tensor((vision_width, s.hidden))
    projector = block("projector", mm_input_projection_weight=weight, mm_soft_emb_norm=rms_norm(vision_width))
    tower = families.tower(s, "vision")
    return llava(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
