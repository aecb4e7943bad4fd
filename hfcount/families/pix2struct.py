"""Pix2Struct: an encoder of pictures of text, and a decoder of text (arXiv:2210.03347)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import rebased
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("pix2struct",)  # transformers 5.23: modeling_pix2struct.py
IGNORED = ("is_vqa",)


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    # The whole model's says whether the decoder's embedding is also its head.
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration",))


def blueprint(s: Spec) -> Block:
    decoder = families.tree(s.parts["text"].replace(tied=s.tied))
    return block(encoder=families.tower(s, "vision"), decoder=rebased(decoder, "decoder"))
