"""Llama 4: its language model and a tower whose patches are merged (model card of Llama-4-Scout-17B-16E)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import with_head
from hfcount.parts.composite import llava
from hfcount.parts.vision_llama import llama4_vision
from hfcount.spec import Spec, Vision
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("llama4",)

# What absent keys of vision_config mean: transformers 5.23, configuration_llama4.py.
_TOWER = {
    "hidden_size": 768,
    "intermediate_size": 5632,
    "num_hidden_layers": 34,
    "num_channels": 3,
    "image_size": 448,
    "patch_size": 14,
    "vision_output_dim": 7680,
    "projector_input_dim": 4096,
    "projector_output_dim": 4096,
}


def spec(c: Config) -> Spec:
    part, eyes = c.part("text_config", defaults={"model_type": "llama4_text"}), c.part("vision_config", defaults=_TOWER)
    text, _ = families.read(part)
    side = eyes.int("patch_size")
    along = eyes.int("image_size") // side
    vision = Vision(
        hidden=keys.seeing(eyes),
        layers=eyes.int("num_hidden_layers", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(side, side),
        channels=eyes.int("num_channels"),
        positions=along * along + 1,
        out=eyes.int("projector_output_dim"),
        traits={name: eyes.int(name) for name in ("projector_input_dim", "vision_output_dim")},
    )
    whole = keys.around(c, part, text, heads=("ForConditionalGeneration", "ForCausalLM"), vision=vision)
    # The language model is whole in itself, head included: what the outer config says of ties does not reach it.
    return whole.but(tied=text.tied)


def blueprint(s: Spec) -> Block:
    body, sizes = families.base(s.text), s.eyes.traits
    if s.head == "causal_lm":
        return with_head(s, body)
    projector = block("vision", linear_1=Linear(sizes["vision_output_dim"], s.hidden))
    tower = llama4_vision(s.eyes, sizes["projector_input_dim"])
    return llava(s, body, vision_model=tower, multi_modal_projector=projector)
