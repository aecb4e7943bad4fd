"""Mistral 3 and its kin: Pixtral's tower, whose patches are merged, before any language model (arXiv:2410.07073)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import rms_norm
from hfcount.parts.composite import llava
from hfcount.parts.vision import pixtral
from hfcount.spec import Spec, Vision
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("mistral3",)

# What absent keys of vision_config mean: transformers 5.23, configuration_pixtral.py.
_TOWER = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_channels": 3,
    "patch_size": 16,
}


def spec(c: Config) -> Spec:
    part = c.part("text_config", defaults={"model_type": "mistral"})
    eyes = c.part("vision_config", defaults=_TOWER if c.sub("vision_config") else {**_TOWER, "patch_size": 14})
    text, _ = families.read(part)
    side = eyes.int("patch_size")
    vision = Vision(
        hidden=keys.seeing(eyes),
        layers=eyes.int("num_hidden_layers", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(side, side),
        channels=eyes.int("num_channels"),
        merge=c.int("spatial_merge_size", default=2),
        traits={
            "multimodal_projector_bias": int(c.bool("multimodal_projector_bias", default=False)),
            "vision_feature_layer": len(c.ints("vision_feature_layer", alone=True)) or 1,
        },
    )
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, part, text, tied=True, heads=heads, vision=vision)


def blueprint(s: Spec) -> Block:
    eyes = s.eyes
    bias, features = bool(eyes.traits["multimodal_projector_bias"]), eyes.traits["vision_feature_layer"]
    projector = block(
        "vision",
        norm=rms_norm(eyes.hidden),
        patch_merger=block(merging_layer=Linear(eyes.merge * eyes.merge * eyes.hidden, eyes.hidden)),
        linear_1=Linear(features * eyes.hidden, s.hidden, bias),
        linear_2=Linear(s.hidden, s.hidden, bias),
    )
    return llava(s, families.base(s.text), vision_tower=pixtral(eyes), multi_modal_projector=projector)
