"""Idefics 3 and SmolVLM: patches in squares, one projection, a language model (arXiv:2408.12637, arXiv:2504.05299)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import lm_head
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("idefics3", "smolvlm")  # transformers 5.23: modeling_idefics3.py, modeling_smolvlm.py


class Idefics3(Sizes):
    scale_factor: int = size("m", absent=2)


def spec(c: Config) -> Spec[Idefics3]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = Idefics3.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).having(sizes)


def blueprint(s: Spec[Idefics3]) -> Block:
    squares = s.own.scale_factor * s.own.scale_factor
    projection = Linear(squares * s.part("vision").hidden, s.hidden, component="projector")
    inner = block(
        vision_model=families.tower(s, "vision"),
        connector=Block({"modality_projection": block(proj=projection)}, repeats=0),
        text_model=families.base(s),
    )
    if s.head == "base":
        return inner
    return block(model=inner, lm_head=lm_head(s, "model.text_model.embed_tokens.weight"))
