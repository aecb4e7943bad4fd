"""The thinkers of Qwen2.5-Omni and Qwen3-Omni: a language model with towers for images and sound (arXiv:2503.20215)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_beside_model
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

# transformers 5.23: modeling_qwen2_5_omni.py, modeling_qwen3_omni_moe.py
MODEL_TYPES = ("qwen2_5_omni_thinker", "qwen3_omni_moe_thinker")
SPELLINGS = {
    r"^thinker\.": "",
    r"^(audio_tower\.|visual\.|language_model\.)": r"model.\1",
    r"^model\.(?!language_model\.|visual\.|audio_tower\.)": "model.language_model.",
}


def spec(c: Config) -> Spec:
    towers = {sense: families.part(c, f"{sense}_config") for sense in ("vision", "audio")}
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, families.part(c, "text_config"), towers, heads=heads).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    senses = {"audio_tower": families.tower(s, "audio"), "visual": families.tower(s, "vision")}
    return towers_beside_model(s, families.base(s), **senses)
