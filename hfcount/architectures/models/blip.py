"""BLIP: a vision tower, and a text model that compares, or describes what it sees (arXiv:2201.12086)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered
from hfcount.architectures.layers.composite import paired, rebased
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("blip",)  # transformers 5.23: modeling_blip.py

_HEADS = keys.named(("ForConditionalGeneration", "Model", "ForQuestionAnswering"), ForImageTextRetrieval="retrieval")


class Blip(Sizes):
    image_text_hidden_size: int = size("d_t")


def spec(c: Config) -> Spec[Blip]:
    vision = families.part(c, "vision_config")
    # Whatever the text model says of the width of what it sees.
    text = keys.attending(families.part(c, "text_config"), vision.hidden)
    sizes = Blip.read(c)
    out = c.int("projection_dim")
    # The decoder is a model of its own, which ties by its own config, too.
    tied = keys.tied_anywhere(c, c.part("text_config"), default=True)
    return keys.composite(c, text, {"vision": vision}, heads=_HEADS, out=out).replace(tied=tied).having(sizes)


def blueprint(s: Spec[Blip]) -> Block:
    tower, text = families.tower(s, "vision"), s.part("text").replace(tied=s.tied)
    encoder: Node = altered(families.base(s), pooler=None)
    decoder = rebased(families.tree(text.replace(head="causal_lm")), "text_decoder")
    if s.head == "base":
        return paired(s, families.base(s), tower)
    if s.head == "conditional_generation":
        return block(vision_model=tower, text_decoder=decoder)
    if s.head == "question_answering":
        return block(vision_model=tower, text_encoder=encoder, text_decoder=decoder)
    shared = s.own.image_text_hidden_size
    return block(
        vision_model=tower,
        text_encoder=encoder,
        vision_proj=Linear(s.part("vision").hidden, shared, True, "projector"),
        text_proj=Linear(s.hidden, shared, True, "projector"),
        itm_head=Linear(s.hidden, 2, True, "other"),
    )
