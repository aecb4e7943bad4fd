"""Granite-Docling: a vision tower that merges its own patches, and a router of images, before Granite."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, with_head
from hfcount.spec import Sizes, Spec, optional
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("granite_docling",)  # transformers 5.23: modeling_granite_docling.py


class GraniteDocling(Sizes):
    """What Granite-Docling alone has: the width of its router of images, if there is one."""

    density_router_hidden_size: int | None = optional("d_r")


def spec(c: Config) -> Spec[GraniteDocling]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = GraniteDocling.read(c)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(own)


def blueprint(s: Spec[GraniteDocling]) -> Block:
    seen, width = s.parts["vision"].hidden, s.own.density_router_hidden_size
    router = None
    if width is not None:
        two = {"fc1": Linear(seen, width, True), "fc2": Linear(width, 1, True)}
        router = Block({"att": Linear(seen, 1, True), "norm": layer_norm(seen), **two}, "projector", 0)
    body = block(vision_model=families.tower(s, "vision"), text_model=families.base(s), density_router=router)
    return with_head(s, body, table="text_model.embed_tokens")
