"""PP-OCR's smallest recogniser of text: a backbone, and convolutions along the line it sees (PaddleOCR, PP-OCRv6)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("pp_ocrv6_tiny_rec",)  # transformers 5.23: modeling_pp_ocrv6_tiny_rec.py

_HEADS = keys.named(("Model",), ForTextRecognition="ctc")
_KERNEL = 5


def spec(c: Config) -> Spec:
    vision = backbones.only(c, families.part(c, "backbone_config"), "pp_lcnet_v4")
    d, out = c.int("hidden_size"), keys.dim("|V|", c.int("head_out_channels"))
    parts = {"backbone": vision}
    return keys.imaging(c, (), _HEADS, hidden=d, vocab=out, parts=parts, out=vision.hidden, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    backbone = s.part("backbone")
    d = backbone.hidden
    letters = block(
        conv1=block("convolution", weight=Tensor((d, 1, _KERNEL))),
        norm1=batch_norm(d),
        conv2=block("convolution", weight=Tensor((d, d, 1))),
        norm2=batch_norm(d),
        fc1=Linear(d, s.hidden, True, "mlp"),
        fc2=Linear(s.hidden, s.vocab, True, "lm_head"),
    )
    return headed(s, "model", block(backbone=families.tree(backbone)), ctc=block(head=letters))
