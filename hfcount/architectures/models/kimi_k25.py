"""Kimi K2.5: Kimi K2's language model with a tower for images and videos (arXiv:2602.02276)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.models.kimi_k25_vision import KimiK25Vision
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("kimi_k25",)  # transformers 5.23: modeling_kimi_k25.py
IGNORED = ("mm_hidden_size", "text_hidden_size", "use_unified_vision_chunk")
SPELLINGS = {
    r"^language_model\.lm_head\.": "lm_head.",
    r"^language_model\.(?:model\.)?": "model.language_model.",
    r"^(vision_tower|mm_projector)\.": r"model.\1.",
    # Saving renames layers as it does those of the tower, and loading takes them back (conversion_mapping.py).
    r"^model\.language_model\.blocks\.": "model.language_model.layers.",
    r"\bmm_projector\.proj\.0\.": "mm_projector.in_proj.",
    r"\bmm_projector\.proj\.2\.": "mm_projector.out_proj.",
}
REPLACES_PLACEHOLDERS = True


class KimiK25(Sizes):
    """Sizes specific to Kimi K2.5: the width of what it projects, as its config says it."""

    projection_hidden_size: int


def spec(c: Config) -> Spec[KimiK25]:
    text = families.part(c, "text_config", "" if c.sub("text_config") else "deepseek_v3")
    vision, inner = families.part(c, "vision_config", "kimi_k25_vision"), c.part("vision_config")
    width = c.int("projection_hidden_size", default=None) or inner.int("mm_hidden_size", default=vision.hidden)
    model = keys.composite(c, text, {"vision": vision}, tied=True, heads=("ForConditionalGeneration", "Model"))
    return model.having(KimiK25.read(c, projection_hidden_size=keys.dim("d_p", width)))


def blueprint(s: Spec[KimiK25]) -> Block:
    vision = s.part("vision")
    vision_width = vision.sizes(KimiK25Vision).merged * vision.hidden
    wide, narrow = Linear(vision_width, vision_width, bias=True), Linear(vision_width, s.hidden, bias=True)
    projector = block(
        "projector", pre_norm=layer_norm(s.own.projection_hidden_size), proj=Block({"0": wide, "2": narrow})
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), mm_projector=projector)
