"""AndesVL: AIMv2 for images of any size, four of whose patches are projected into Qwen3 at once (arXiv:2510.11496)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("andesvl-aimv2-qwen3",)  # modeling_andesvl.py of OPPOer/AndesVL-1B-Instruct
CLASSES = ("AndesVLForConditionalGeneration",)

_MERGED = 4  # patches of a square become one, whatever hidden_stride says


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config", always="qwen3").replace(head="causal_lm")
    towers = {"vision": families.part(c, "vision_config", always="andesvl_aimv2")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration",))
    return model.replace(tied=text.tied)  # the language model says it for the whole


def blueprint(s: Spec) -> Block:
    merged = _MERGED * s.part("vision").hidden
    return block(
        vision_encoder=families.tower(s, "vision"),
        language_model=rebased(families.tree(s.part("text")), "language_model"),
        mlp=Block({"0": Linear(merged, merged, True), "2": Linear(merged, s.hidden, True)}, "projector"),
    )
