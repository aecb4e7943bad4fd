"""VideoPrism with a text tower: videos and texts in one space (arXiv:2402.13217)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("videoprism",)  # transformers 5.23: modeling_videoprism.py

_HEADS = keys.named(ClipModel="base")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(c, text, towers, heads=_HEADS).replace(tied=False)


def blueprint(s: Spec) -> Block:
    video = families.tree(s.parts["vision"].replace(head="encoder"))
    return block(video_model=replace(video, component="vision", repeats=0), text_model=families.base(s))
