"""TIPS v2: a vision and a text tower of one width, compared as they are (arXiv:2410.16512)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("tipsv2",)  # transformers 5.23: modeling_tipsv2.py
SPELLINGS = {r"^text_encoder\.": "text_model.", r"^vision_encoder\.": "vision_model."}


def spec(c: Config) -> Spec:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config")
    if text.hidden != vision.hidden:
        said = (
            f"text_config.hidden_size is {text.hidden:,} and vision_config.hidden_size {vision.hidden:,}: they differ."
        )
        raise c.error(said, "text_config.hidden_size", "Correct one of them.")
    return keys.composite(c, text, {"vision": vision}, heads=("Model",)).replace(tied=False)


def blueprint(s: Spec) -> Block:
    return block(
        temperature=Tensor((), component="other"),
        text_encoder=families.base(s),
        vision_encoder=families.tower(s, "vision"),
    )
