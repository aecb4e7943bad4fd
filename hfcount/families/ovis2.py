"""Ovis 2: a vision tower whose output picks rows of a table of visual words, before any language model."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("ovis2",)  # transformers 5.23: modeling_ovis2.py
IGNORED = ("visual_indicator_token_ids",)
SPELLINGS = {
    r"^language_model\.lm_head\.": "lm_head.",
    r"^language_model\.(?:model\.)?": "model.language_model.",
    r"^(vision_tower|visual_embeddings_table)\.": r"model.\1.",
}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "ovis2_vision")}
    # The widths of the head and of the table are the outer config's, those of the layers the inner one's.
    traits = {"vocab_size": keys.sized("|V_o|", c.int("vocab_size")), "width": keys.sized("d_w", c.int("hidden_size"))}
    return keys.around(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"), traits=traits)


def blueprint(s: Spec) -> Block:
    width = s.traits["width"]
    words = Tensor((s.parts["vision"].traits["vocab_size"], width), component="projector")
    tower = families.tower(s, "vision")
    tree = joined(s, families.base(s), vision_tower=tower, visual_embeddings_table=block(weight=words))
    if s.head == "base" or s.tied:
        return tree
    return Block({**tree.children, "lm_head": Linear(width, s.traits["vocab_size"], component="lm_head")})
