"""Kosmos-2 and Kosmos-2.5: queries that attend to an image become tokens (arXiv:2306.14824, arXiv:2309.11419)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import rebased
from hfcount.parts.vision import square_attention
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_kosmos2.py, modeling_kosmos2_5.py
MODEL_TYPES = ("kosmos-2", "kosmos-2.5")
IGNORED = ("scale_embedding",)


class Kosmos2(Sizes):
    """What this architecture alone has."""

    latent_query_num: int = size("n_q")


def spec(c: Config) -> Spec[Kosmos2]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    own = c.bool("tie_word_embeddings", default=True) and c.family == "kosmos-2"
    sizes = Kosmos2.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).replace(tied=own or text.tied).having(sizes)


def blueprint(s: Spec[Kosmos2]) -> Block:
    d, head = s.hidden, "base" if s.head == "base" else "causal_lm"
    projection = block(
        "projector",
        dense=Linear(s.parts["vision"].hidden, d, True),
        latent_query=Tensor((s.own.latent_query_num, d)),
        x_attn=square_attention(d, out="out_proj"),
    )
    return block(
        text_model=rebased(families.tree(s.parts["text"].replace(head=head, tied=s.tied)), "text_model"),
        vision_model=families.tower(s, "vision"),
        image_to_text_projection=projection,
    )
