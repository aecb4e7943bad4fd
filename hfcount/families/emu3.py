"""Emu3: Llama over words and the codes of images and videos (arXiv:2409.18869)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("emu3",)  # transformers 5.23: modeling_emu3.py
IGNORED = ("vocabulary_map",)
SPELLINGS = {
    r"^text_model\.lm_head\.": "lm_head.",
    r"^text_model\.(?:model\.)?": "model.text_model.",
    r"^vqmodel\.": "model.vqmodel.",
}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vq_config")}
    # The text model within has no head, and so its own tie says nothing.
    tied = c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    body, tower = families.base(s), families.tower(s, "vision")
    if s.head == "base":
        return block(text_model=block(model=body), vqmodel=tower)
    text = block(model=body, lm_head=lm_head(s, "text_model.model.embed_tokens.weight"))
    return block(text_model=text, vqmodel=tower)
