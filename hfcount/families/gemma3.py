"""Gemma 3: its language model with SigLIP's tower, whose tokens are averaged and projected (arXiv:2503.19786)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.parts.composite import llava
from hfcount.parts.vision import siglip
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("gemma3",)
IGNORED = ("mm_tokens_per_image",)

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
    part = c.part("text_config", defaults=_TEXT)
    text, _ = families.read(part)
    vision = keys.siglip(c.part("vision_config"))
    heads = ("ForConditionalGeneration", "Model", "ForSequenceClassification")
    return keys.around(c, part, text, tied=True, heads=heads, vision=vision)


def blueprint(s: Spec) -> Block:
    eyes = s.eyes
    projector = block(
        "vision",
        mm_input_projection_weight=Tensor((eyes.hidden, s.hidden)),
        mm_soft_emb_norm=rms_norm(eyes.hidden),
    )
    tower = siglip(eyes, head=bool(eyes.traits["vision_use_head"]))
    return llava(s, families.base(s.text), vision_tower=tower, multi_modal_projector=projector)
