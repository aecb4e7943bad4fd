"""SLANeXt: reads a table's structure from SAM's encoder (PaddleOCR, arXiv:2210.05391)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.tables import structure
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("slanext",)  # transformers 5.23: modeling_slanext.py
IGNORED = ("max_text_length",)

_HEADS = keys.named(ForTableRecognition="base")


class Slanext(Sizes):
    post_conv_in_channels: int = size("C_i")
    post_conv_out_channels: int = size("C_o")


def spec(c: Config) -> Spec[Slanext]:
    vision, d = families.part(c, "vision_config"), c.int("hidden_size")
    sizes = Slanext.read(c)
    words, parts, why = c.int("out_channels"), {"vision": vision}, keys.COARSER
    return keys.imaging(c, (), _HEADS, vocab=words, hidden=d, parts=parts, uncounted=why).having(sizes)


def blueprint(s: Spec[Slanext]) -> Block:
    inputs, outputs = s.own.post_conv_in_channels, s.own.post_conv_out_channels
    after = Block(conv(inputs, outputs, 3).children, "projector")
    backbone = block(vision_tower=families.tower(s, "vision"), post_conv=after)
    return block(backbone=backbone, head=structure(outputs, s.hidden, s.vocab))
