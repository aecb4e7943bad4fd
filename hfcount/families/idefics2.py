"""Idefics 2: patches in a perceiver's few latents, before any language model (arXiv:2405.02246)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head, swiglu
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("idefics2",)  # transformers 5.23: modeling_idefics2.py


class Idefics2(Sizes):
    """What this architecture alone has."""

    intermediate_size: int


def spec(c: Config) -> Spec[Idefics2]:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config")
    sampler = families.part(c, "perceiver_config").replace(hidden=text.hidden)  # which it is made as wide as
    parts = {"vision": vision, "perceiver": sampler}
    width = c.part("text_config").int("intermediate_size")
    heads = ("ForConditionalGeneration", "Model")
    own = Idefics2.read(c, intermediate_size=keys.dim("d_ff", width))
    return keys.composite(c, text, parts, heads=heads).having(own)


def blueprint(s: Spec[Idefics2]) -> Block:
    seen, width = s.parts["vision"].hidden, s.own.intermediate_size
    wide = block(**{**swiglu(seen, width).children, "down_proj": swiglu(s.hidden, width).children["down_proj"]})
    sampler = families.tree(s.parts["perceiver"])
    connector = Block({"modality_projection": wide, "perceiver_resampler": sampler}, "projector", repeats=0)
    tower = families.tower(s, "vision")
    inner = block(vision_model=tower, connector=connector, text_model=families.base(s))
    if s.head == "base":
        return inner
    return block(model=inner, lm_head=lm_head(s, "model.text_model.embed_tokens.weight"))
