"""Idefics 3 and SmolVLM: patches in squares, one projection, a language model (arXiv:2408.12637, arXiv:2504.05299)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import lm_head
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("idefics3", "smolvlm")  # transformers 5.23: modeling_idefics3.py, modeling_smolvlm.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    traits = {"scale_factor": keys.sized("m", c.int("scale_factor", default=2))}
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, text, towers, heads=heads, traits=traits)


def blueprint(s: Spec) -> Block:
    squares = s.traits["scale_factor"] * s.traits["scale_factor"]
    projection = Linear(squares * s.parts["vision"].hidden, s.hidden, component="projector")
    inner = block(
        vision_model=families.tower(s, "vision"),
        connector=Block({"modality_projection": block(proj=projection)}, repeats=0),
        text_model=families.base(s),
    )
    if s.head == "base":
        return inner
    return block(model=inner, lm_head=lm_head(s, "model.text_model.embed_tokens.weight"))
