"""Cosmos 3's reasoner: Qwen3-VL under other names, its parts side by side (arXiv:2511.00062)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import lm_head
from hfcount.architectures.layers.composite import as_tower, renamed, towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("cosmos3_omni",)  # transformers 5.23: modeling_cosmos3_omni.py
_SEEING = ("blocks", "merger", "patch_embed", "pos_embed", "deepstack_merger_list")
_ATTENTION = {
    "self_attn.q_proj": "to_q",
    "self_attn.k_proj": "to_k",
    "self_attn.v_proj": "to_v",
    "self_attn.o_proj": "to_out",
    "self_attn.q_norm": "norm_q",
    "self_attn.k_norm": "norm_k",
}
SPELLINGS = {
    r"^(?=(layers|embed_tokens|norm)\.)": "model.language_model.",
    rf"^(?=({'|'.join(_SEEING)})\.)": "model.visual.",
    **{rf"\.self_attn\.{later}\.": f".{name}." for name, later in _ATTENTION.items()},
}


def spec(c: Config) -> Spec:
    # Early configs give the tower another type.
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config", "qwen3_vl_vision")
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, text, {"vision": vision}, heads=heads).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    text, vision = renamed(families.base(s), _ATTENTION), families.tower(s, "vision")
    if s.head == "base":
        return towers_in_model(s, text, visual=vision)
    senses = {name: as_tower(child, "vision") for name, child in vision.children.items()}
    return Block({"lm_head": lm_head(s, "embed_tokens.weight"), **text.children, **senses})
