"""Sarashina2-Vision: Qwen2-VL's tower and LLaMA, a norm between them (card of sbintuitions/sarashina2-vision-8b)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import as_tower, rebased
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("sarashina2_vision",)  # sarashina2_vision.py of sgl-project/sglang 0.5.23
CLASSES = ("Sarashina2VisionForCausalLM",)


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config", always="llama").replace(head="causal_lm")
    vision = families.part(c, "vision_config", always="qwen2_vl_vision")
    vocab = c.int("vocab_size", default=text.vocab)
    text = text.replace(vocab=vocab)
    heads = keys.named(("ForCausalLM",))
    model = keys.composite(c, text, {"vision": vision}, heads=heads, vocab=vocab)
    return model.replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    return block(
        visual=families.tower(s, "vision"),
        norm=as_tower(layer_norm(s.hidden), "projector"),
        llm=rebased(families.tree(s.part("text")), "llm"),
    )
