"""Ovis 2: a vision tower whose output picks rows of a table of visual words, before any language model."""

from hfcount import families, keys
from hfcount.families.ovis2_vision import Ovis2Vision
from hfcount.mapper import Config
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("ovis2",)  # transformers 5.23: modeling_ovis2.py
IGNORED = ("visual_indicator_token_ids",)
SPELLINGS = {
    r"^language_model\.lm_head\.": "lm_head.",
    r"^language_model\.(?:model\.)?": "model.language_model.",
    r"^(vision_tower|visual_embeddings_table)\.": r"model.\1.",
}


class Ovis2(Sizes):
    """What the whole model alone has."""

    vocab_size: int = size("|V_o|")
    width: int = size("d_w", "hidden_size")


def spec(c: Config) -> Spec[Ovis2]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "ovis2_vision")}
    # The widths of the head and of the table are the outer config's, those of the layers the inner one's.
    own = Ovis2.read(c)
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model")).having(own)


def blueprint(s: Spec[Ovis2]) -> Block:
    width = s.own.width
    words = Tensor((s.parts["vision"].sizes(Ovis2Vision).vocab_size, width), component="projector")
    tower = families.tower(s, "vision")
    tree = towers_in_model(s, families.base(s), vision_tower=tower, visual_embeddings_table=block(weight=words))
    if s.head == "base" or s.tied:
        return tree
    return Block({**tree.children, "lm_head": Linear(width, s.own.vocab_size, component="lm_head")})
