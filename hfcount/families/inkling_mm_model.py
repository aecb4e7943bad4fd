"""Inkling: the language model, an audio tower that is a table, and a vision tower of few projections."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, rms_norm
from hfcount.parts.composite import towers_beside_model
from hfcount.parts.release_names import INKLING
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("inkling_mm_model",)  # transformers 5.23: modeling_inkling.py
IGNORED = ("mtp_config",)
SPELLINGS = INKLING
MERGED = {
    "mlp.shared_experts.shared_w13_weight": ("mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj"),
    "mlp.w13_dn.weight": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
}


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    width = text.hidden  # the width of what both towers give, whatever their own configs say
    towers = {
        "vision": families.part(c, "vision_config", "inkling_vision").replace(out=width),
        "audio": families.part(c, "audio_config", "inkling_audio").replace(hidden=width),
    }
    whole = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return whole.replace(tied=False)  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    vision, audio, body = families.tower(s, "vision"), families.tower(s, "audio"), families.base(s)
    if s.head == "base":
        table = altered(embedding(s.vocab, s.hidden), embed_norm=rms_norm(s.hidden))
        text = altered(body, embed=None, embed_norm=None, embed_tokens=table)
        return towers_beside_model(s, text, audio_tower=audio, vision_tower=vision)
    head = Linear(s.hidden, s.vocab, component="lm_head")
    text = Block({**body.children, "unembed": head})
    return block(model=block(llm=text, audio=audio, visual=vision))
