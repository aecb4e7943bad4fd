"""CLIP, and models like it: a vision and a text tower, each with a projection to a common width (arXiv:2103.00020)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered
from hfcount.architectures.layers.classic import classifier
from hfcount.architectures.layers.composite import paired
from hfcount.architectures.models.altclip_text_model import AltclipTextModel
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_clip.py, modeling_metaclip_2.py, modeling_altclip.py, modeling_chinese_clip.py,
# modeling_aimv2.py, modeling_vision_text_dual_encoder.py
MODEL_TYPES = ("clip", "metaclip_2", "altclip", "chinese_clip", "aimv2", "vision-text-dual-encoder")
CONVERTED = ("altclip",)
SPELLINGS = {r"encoder\.layer\.": "encoder.layers."}

_CLASSIFYING = keys.named(("Model", "ForImageClassification"))
_DUAL = keys.named(DualEncoderModel="base")
_HEADS = {"clip": _CLASSIFYING, "metaclip_2": _CLASSIFYING, "vision-text-dual-encoder": _DUAL}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(
        c, text, towers, heads=_HEADS.get(c.family, keys.named(("Model",))), out=c.int("projection_dim")
    ).replace(tied=False)


def blueprint(s: Spec) -> Block:
    tower, text = families.tower(s, "vision"), families.base(s)
    if s.head == "image_classification":
        return block(vision_model=tower, classifier=classifier(s, s.part("vision").hidden))
    if s.family == "chinese_clip":  # BERT without what reads its first token
        text = altered(text, pooler=None)
    if s.family == "altclip":
        tower, text = _saved(tower), _saved(text)
    words = s.part("text").own
    return paired(s, text, tower, words.project_dim if isinstance(words, AltclipTextModel) else None)


def _saved(part: Block) -> Block:
    """The layers of AltCLIP's towers are saved under another name than the towers have alone."""
    children = {name: _saved(child) if isinstance(child, Block) else child for name, child in part.children.items()}
    return part.replace(children={"layer" if name == "layers" else name: child for name, child in children.items()})
