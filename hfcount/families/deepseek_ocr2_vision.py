"""The towers of DeepSeek-OCR 2 and Unlimited OCR: one for details, and one after it that sees all of them."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Node, Tensor, block

# transformers 5.23: modeling_deepseek_ocr2.py, modeling_unlimited_ocr.py
MODEL_TYPES = ("deepseek_ocr2_vision", "unlimited_ocr_vision")


def spec(c: Config) -> Spec:
    own, second = (
        ("deepseek_ocr2", "encoder") if c.family.startswith("deepseek") else ("unlimited_ocr", "vision_encoder")
    )
    towers = {
        "sam": families.part(c, "sam_config", f"{own}_sam_vision_model"),
        "encoder": families.part(c, "encoder_config", f"{own}_{second}"),
    }
    return keys.encoding(c, (), hidden=towers["encoder"].hidden, parts=towers)


def blueprint(s: Spec) -> Block:
    fine, second = s.parts["sam"], s.parts["encoder"]
    released, asked = bool(s.place), s.family.startswith("deepseek")
    if asked and not released:  # alone, it has the names of transformers
        fine, second = fine.replace(place=""), second.replace(place="")
    detail, whole = families.tree(fine), families.tree(second)
    if not asked:
        names = ("sam_model", "vision_model") if released else ("sam_encoder", "vision_encoder")
        return Block({names[0]: detail, names[1]: whole})

    def queries(across: int) -> Block:
        return block("embedding", weight=Tensor((across * across, s.hidden)))

    small, large = queries(12), queries(16)  # for images of 768 and of 1,024 pixels
    if released:
        return block(sam_model=detail, qwen2_model=Block({**whole.children, "query_768": small, "query_1024": large}))
    more: dict[str, Node] = {"query_768_resolution": small, "query_1024_resolution": large}
    return Block({"sam_encoder": detail, "vision_encoder": whole, **more})
