"""DeepSeek-OCR 2 and Unlimited OCR: two towers, one after the other, before experts (arXiv:2601.20552)."""

from hfcount import families, keys
from hfcount.families.deepseek_ocr2_sam_vision_model import DeepseekOcr2Sam
from hfcount.mapper import Config
from hfcount.parts import with_head
from hfcount.parts.conversions import packed
from hfcount.parts.release_names import OCR
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block

# transformers 5.23: modeling_deepseek_ocr2.py, modeling_unlimited_ocr.py
MODEL_TYPES = ("deepseek_ocr2", "unlimited_ocr")
IGNORED = ("candidate_resolutions", "projector_config", "tile_tag")
SPELLINGS = OCR
MERGED = packed()


def spec(c: Config) -> Spec:
    own = c.family
    key = "language_config" if not c.sub("text_config") and c.sub("language_config") else "text_config"
    text = families.part(c, key, f"{own}_text")
    towers = {"vision": families.part(c, "vision_config", f"{own}_vision")}
    return keys.composite(c, text, towers, key=key, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    d, vision = s.hidden, s.parts["vision"]
    newline = s.family == "unlimited_ocr"
    seen = vision.hidden + vision.parts["sam"].sizes(DeepseekOcr2Sam).second if newline else vision.hidden
    towers = {name: Block({**one.children}, "vision", 0) for name, one in _towers(vision)}
    more: dict[str, Node] = {
        **towers,
        "projector": block("projector", layers=Linear(seen, d, True)),
        "view_seperator": Tensor((d,), component="projector"),
    }
    if newline:
        more["image_newline"] = Tensor((d,), component="projector")
    return with_head(s, Block({**families.base(s).children, **more}))


def _towers(vision: Spec) -> list[tuple[str, Block]]:
    return [(name, one) for name, one in families.tree(vision).children.items() if isinstance(one, Block)]
