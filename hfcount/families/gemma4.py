"""Gemma 4: its language model, and towers that see and hear, each with a projection (model card of gemma-4-31B-it)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import with_head
from hfcount.parts.audio import conformer
from hfcount.parts.composite import joined
from hfcount.parts.vision_gemma import gemma4_vision
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("gemma4",)
IGNORED = ("attention_chunk_size", "default_output_length", "pooling_kernel_size", "vision_soft_tokens_per_image")


def spec(c: Config) -> Spec:
    part = c.part("text_config", defaults={"model_type": "gemma4_text"})
    text, _ = families.read(part)
    vision = keys.gemma4_vision(c) if c.sub("vision_config") else None
    hearing = keys.conformer(c) if c.sub("audio_config") else {}
    heads = ("ForConditionalGeneration", "Model", "ForCausalLM")
    return keys.around(c, part, text, tied=True, heads=heads, vision=vision, traits=hearing)


def blueprint(s: Spec) -> Block:
    body, towers = families.base(s.text), dict[str, Node]()
    if s.head == "causal_lm":
        return with_head(s, body)
    if s.vision:
        towers["vision_tower"] = gemma4_vision(s.vision, **s.vision.traits)
        towers["embed_vision"] = block("vision", embedding_projection=Linear(s.vision.hidden, s.hidden))
    if s.traits:
        towers["audio_tower"] = conformer(**s.traits)
        towers["embed_audio"] = block("other", embedding_projection=Linear(s.traits["out"], s.hidden))
    return joined(s, body, **towers)
