"""PP-FormulaNet: an encoder of pictures of formulas, and a decoder of LaTeX (arXiv:2503.18382)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("pp_formulanet",)  # transformers 5.23: modeling_pp_formulanet.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    # The head is never tied.
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    body = block(decoder=families.base(s), encoder=families.tower(s, "vision"))
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, ""))
