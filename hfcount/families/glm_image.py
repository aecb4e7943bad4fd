"""GLM-Image: GLM-4 over text and codes of images, of which it predicts the latter (https://huggingface.co/zai-org)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import as_tower
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("glm_image",)  # transformers 5.23: modeling_glm_image.py


class GlmImage(Sizes):
    """What this architecture alone has."""

    vision_vocab_size: int


def spec(c: Config) -> Spec[GlmImage]:
    parts = {"vision": families.part(c, "vision_config"), "codes": families.part(c, "vq_config")}
    codes = keys.dim("|V_v|", c.part("text_config").int("vision_vocab_size", default=16_512))
    heads = ("ForConditionalGeneration", "Model")
    own = GlmImage.read(c, vision_vocab_size=codes)
    whole = keys.composite(c, families.part(c, "text_config"), parts, heads=heads)
    return whole.replace(tied=False).having(own)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec[GlmImage]) -> Block:
    codes = as_tower(families.tree(s.parts["codes"]), "vision")
    body = block(visual=families.tower(s, "vision"), language_model=families.base(s), vqmodel=codes)
    if s.head == "base":
        return body
    return block(model=body, lm_head=Linear(s.hidden, s.own.vision_vocab_size, component="lm_head"))
