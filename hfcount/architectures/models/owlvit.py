"""OWL-ViT and OWLv2: CLIP, whose patches are boxes around what a text names (arXiv:2205.06230, arXiv:2306.09683)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import paired
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("owlvit", "owlv2")  # transformers 5.23: modeling_owlvit.py, modeling_owlv2.py

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(c, text, towers, heads=_HEADS, out=c.int("projection_dim")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    body, vision_width = paired(s, families.base(s), families.tower(s, "vision")), s.part("vision").hidden
    if s.head == "base":
        return body

    def box(outputs: int) -> Block:
        inner = Linear(vision_width, vision_width, True)
        return block("other", dense0=inner, dense1=inner, dense2=Linear(vision_width, outputs, True))

    linear = Linear(vision_width, 1, True)
    named = block("other", dense0=Linear(vision_width, s.hidden, True), logit_shift=linear, logit_scale=linear)
    heads = block(
        class_head=named,
        box_head=box(4),  # its middle, width and height
        objectness_head=box(1) if s.family == "owlv2" else None,
        layer_norm=layer_norm(vision_width),
    )
    return Block({s.family: body, **heads.children})
