"""Qwen2.5-Omni and Qwen3-Omni: a thinker that writes text, a talker that says it, a vocoder (arXiv:2503.20215)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import rebased
from hfcount.parts.conversions import packed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Node, block

# transformers 5.23: modeling_qwen2_5_omni.py, modeling_qwen3_omni_moe.py
MODEL_TYPES = ("qwen2_5_omni", "qwen3_omni_moe")
CLASSES = ("Qwen2_5OmniModel",)
SPELLINGS = {
    r"^thinker\.(audio_tower\.|visual\.)": r"thinker.model.\1",
    r"^thinker\.model\.(?!language_model\.|visual\.|audio_tower\.)": "thinker.model.language_model.",
}
MERGED = packed()


def spec(c: Config) -> Spec:
    thinker, parts = families.part(c, "thinker_config"), dict[str, Spec]()
    if c.bool("enable_audio_output", default=True):
        second = c.family == "qwen2_5_omni"
        parts["talker"] = families.part(c, "talker_config", "" if second else "qwen3_omni_moe_talker")
        parts["waves"] = (
            families.part(c, "token2wav_config")
            if second
            else families.part(c, "code2wav_config", "qwen3_omni_moe_code2wav")
        )
    heads = keys.named(("ForConditionalGeneration",), OmniModel="conditional_generation")  # as it was released
    whole = keys.composite(c, thinker, parts, key="thinker_config", heads=heads)
    return whole.replace(tied=thinker.tied)


def blueprint(s: Spec) -> Block:
    senses: dict[str, Node] = {}
    for name in ("talker", "waves"):
        if name in s.parts:
            one = families.tree(s.parts[name].replace(head=s.parts[name].heads[0]))
            called = "token2wav" if s.family == "qwen2_5_omni" else "code2wav"
            senses[name if name == "talker" else called] = replace(one, component="audio", repeats=0)
    text = s.parts["text"].replace(head="conditional_generation", tied=s.tied)
    return block(thinker=rebased(families.tree(text), "thinker"), **senses)
