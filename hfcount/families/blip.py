"""BLIP: a vision tower, and a text model that compares, or describes what it sees (arXiv:2201.12086)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered
from hfcount.parts.composite import paired, rebased
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("blip",)  # transformers 5.23: modeling_blip.py

_HEADS = keys.named(("ForConditionalGeneration", "Model", "ForQuestionAnswering"), ForImageTextRetrieval="retrieval")


def spec(c: Config) -> Spec:
    vision = families.part(c, "vision_config")
    # Whatever the text model says of the width of what it sees.
    text = keys.attending(families.part(c, "text_config"), vision.hidden)
    traits = {"image_text_hidden_size": keys.sized("d_t", c.int("image_text_hidden_size"))}
    out = c.int("projection_dim")
    # The decoder is a model of its own, which ties by its own config, too.
    tied = keys.tied_anywhere(c, c.part("text_config"), default=True)
    return keys.around(c, text, {"vision": vision}, heads=_HEADS, out=out, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    tower, text = families.tower(s, "vision"), s.parts["text"].but(tied=s.tied)
    encoder: Node = altered(families.base(s), pooler=None)
    decoder = rebased(families.tree(text.but(head="causal_lm")), "text_decoder")
    if s.head == "base":
        return paired(s, families.base(s), tower)
    if s.head == "conditional_generation":
        return block(vision_model=tower, text_decoder=decoder)
    if s.head == "question_answering":
        return block(vision_model=tower, text_encoder=encoder, text_decoder=decoder)
    shared = s.traits["image_text_hidden_size"]
    return block(
        vision_model=tower,
        text_encoder=encoder,
        vision_proj=Linear(s.parts["vision"].hidden, shared, True, "projector"),
        text_proj=Linear(s.hidden, shared, True, "projector"),
        itm_head=Linear(s.hidden, 2, True, "other"),
    )
