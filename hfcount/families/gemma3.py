"""Gemma 3: its language model with SigLIP's tower, whose tokens are averaged and projected (arXiv:2503.19786)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.parts.composite import llava
from hfcount.parts.conversions import LLAVA
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("gemma3",)  # transformers 5.23: modeling_gemma3.py
IGNORED = ("mm_tokens_per_image",)
SPELLINGS = LLAVA

# Published configs leave out of text_config what agrees with transformers' Gemma3TextConfig.
_TEXT = {
    "model_type": "gemma3_text",
    "vocab_size": 262208,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
}


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config", defaults=_TEXT)
    towers = {"vision": families.part(c, "vision_config", always="siglip_vision_model")}
    heads = ("ForConditionalGeneration", "Model", "ForSequenceClassification")
    return keys.around(c, text, towers, tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    seen = s.parts["vision"].hidden
    weight = Tensor((seen, s.hidden))
    projector = block("projector", mm_input_projection_weight=weight, mm_soft_emb_norm=rms_norm(seen))
    tower = families.tower(s, "vision")
    return llava(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
