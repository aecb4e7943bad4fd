"""LLaVA: CLIP's or SigLIP's tower and two projections before any language model (arXiv:2310.03744)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.vision import clip, siglip
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("llava",)


def spec(c: Config) -> Spec:
    part = c.part("text_config", defaults={"model_type": "llama"})
    text, _ = families.read(part)
    vision = keys.clip_or_siglip(c.part("vision_config"))
    traits = {
        "multimodal_projector_bias": int(c.bool("multimodal_projector_bias", default=True)),
        "vision_feature_layer": len(c.ints("vision_feature_layer", alone=True)) or 1,
    }
    heads = ("ForConditionalGeneration", "Model")
    tied = keys.tied_anywhere(c, part)
    return keys.around(c, part, text, heads=heads, vision=vision, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    eyes, bias = s.eyes, bool(s.traits["multimodal_projector_bias"])
    head = eyes.traits.get("vision_use_head")
    projector = block(
        "vision",
        linear_1=Linear(s.traits["vision_feature_layer"] * eyes.hidden, s.hidden, bias),
        linear_2=Linear(s.hidden, s.hidden, bias),
    )
    tower = clip(eyes) if head is None else siglip(eyes, head=bool(head))
    return llava(s, families.base(s.text), vision_tower=tower, multi_modal_projector=projector)
