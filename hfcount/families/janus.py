"""Janus: a tower that sees and an autoencoder whose codes are drawn, around Llama's layers (arXiv:2410.13848)."""

from hfcount import families, keys
from hfcount.families.janus_vision_model import JanusVisionModel
from hfcount.families.janus_vqgan import JanusVqgan
from hfcount.mapper import Config
from hfcount.parts.composite import towers_in_model
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("janus",)  # transformers 5.23: modeling_janus.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config", "janus_vision_model")}
    towers["vq"] = families.part(c, "vq_config", "janus_vqgan")
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"))


def _aligner(inputs: int, width: int, depth: int) -> Block:
    later = Repeat(Indices.below(max(0, depth - 1)), Linear(width, width, True))
    return block("projector", fc1=Linear(inputs, width, True), hidden_layers=later)


def blueprint(s: Spec) -> Block:
    vision, codes = s.parts["vision"], s.parts["vq"]
    of, width = codes.sizes(JanusVqgan), codes.output
    head = block(
        "projector",
        proj_out=Linear(of.image_token_embed_dim, width, True),
        vision_head=Linear(width, of.num_embeddings, True),
    )
    senses: dict[str, Node] = {
        "vision_model": families.tower(s, "vision"),
        "aligner": _aligner(vision.hidden, vision.output, vision.sizes(JanusVisionModel).depth),
        "vqmodel": Block(families.tree(codes).children, "vision"),
        "generation_embeddings": block("projector", weight=Tensor((of.num_embeddings, codes.hidden))),
        "generation_aligner": _aligner(codes.hidden, width, of.num_hidden_layers),
        "generation_head": head,
    }
    return towers_in_model(s, families.base(s), **senses)
