"""ShieldGemma 2: Gemma 3 that judges images by the likelihood of yes and no (arXiv:2504.01081)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import lm_head
from hfcount.architectures.layers.conversions import CLIP
from hfcount.architectures.models.gemma3 import blueprint as gemma3
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("shieldgemma2",)  # transformers 5.23: modeling_shieldgemma2.py
IGNORED = ("mm_tokens_per_image",)
SPELLINGS = {
    r"^model\.(?!model\.)": "model.model.",
    r"^model\.model\.language_model\.model\.": "model.model.language_model.",
    **CLIP,
}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    model = keys.composite(c, text, towers, heads=("ForImageClassification",))
    return model.replace(tied=keys.tied_anywhere(c, c.part("text_config")))


def blueprint(s: Spec) -> Block:
    words = lm_head(s, "model.model.language_model.model.embed_tokens.weight")
    return block(model=block(model=gemma3(s.replace(head="base")), lm_head=words))
