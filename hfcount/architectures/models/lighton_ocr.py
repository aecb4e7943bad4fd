"""LightOnOCR: Mistral 3's way to read images with Pixtral's tower, before Qwen3 (arXiv:2601.14251)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import lm_head, rms_norm
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lighton_ocr",)  # transformers 5.23: modeling_lighton_ocr.py


class LightonOcr(Sizes):
    spatial_merge_size: int = size("m", absent=2)


def spec(c: Config) -> Spec[LightonOcr]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = LightonOcr.read(c)
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model")).having(sizes)


def blueprint(s: Spec[LightonOcr]) -> Block:
    d, vision_width, side = s.hidden, s.part("vision").hidden, s.own.spatial_merge_size
    projection = block(
        "projector",
        norm=rms_norm(vision_width),
        patch_merger=block(merging_layer=Linear(side * side * vision_width, vision_width)),
        linear_1=Linear(vision_width, d),
        linear_2=Linear(d, d),
    )
    projection = Block(projection.children, "projector", repeats=0)
    tower = families.tower(s, "vision")
    inner = block(vision_encoder=tower, vision_projection=projection, language_model=families.base(s))
    if s.head == "base":
        return inner
    return block(model=inner, lm_head=lm_head(s, "model.language_model.embed_tokens.weight"))
