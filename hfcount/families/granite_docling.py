"""Granite-Docling: a vision tower that merges its own patches, and a router of images, before Granite."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, with_head
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("granite_docling",)  # transformers 5.23: modeling_granite_docling.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    width = c.int("density_router_hidden_size", default=None)
    traits = {} if width is None else {"density_router_hidden_size": keys.sized("d_r", width)}
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.around(c, text, towers, heads=heads, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    seen, width = s.parts["vision"].hidden, s.traits.get("density_router_hidden_size")
    router = None
    if width is not None:
        two = {"fc1": Linear(seen, width, True), "fc2": Linear(width, 1, True)}
        router = Block({"att": Linear(seen, 1, True), "norm": layer_norm(seen), **two}, "projector", 0)
    body = block(vision_model=families.tower(s, "vision"), text_model=families.base(s), density_router=router)
    return with_head(s, body, table="text_model.embed_tokens")
