"""Perception Language Model: Llama that sees with a Perception Encoder of timm (arXiv:2504.13180)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("perception_lm",)  # transformers 5.23: modeling_perception_lm.py
IGNORED = ("vision_use_cls_token", "projector_pooling_ratio")


class PerceptionLm(Sizes):
    embed_dim: int


def spec(c: Config) -> Spec[PerceptionLm]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    # The projection is as wide as the argument says, which must be there.
    sizes = PerceptionLm.read(c, embed_dim=keys.dim("d_e", c.part("vision_config").part("model_args").int("embed_dim")))
    heads = ("ForConditionalGeneration", "Model")
    model = keys.composite(c, text, towers, heads=heads)
    return (model if c.given("tie_word_embeddings") else model.replace(tied=text.tied)).having(sizes)


def blueprint(s: Spec[PerceptionLm]) -> Block:
    vision_width, d = s.own.embed_dim, s.hidden
    projector = block("projector", linear_1=Linear(vision_width, d, True), linear_2=Linear(d, d, True))
    return towers_in_model(
        s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector
    )
