"""Depth Anything, also prompted with a coarse depth: DINOv2 and a neck (arXiv:2401.10891, arXiv:2412.14015)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.depth import Neck, shrinking
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, part, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_depth_anything.py, modeling_prompt_depth_anything.py
MODEL_TYPES = ("depth_anything", "prompt_depth_anything")
IGNORED = ("patch_size", "max_depth")

_HEADS = keys.named(ForDepthEstimation="depth_estimation")


class DepthAnything(Sizes):
    neck: Neck = part(Neck)
    reassemble_hidden_size: int = size("d_r")
    head_hidden_size: int = size("d_h")


def spec(c: Config) -> Spec[DepthAnything]:
    sizes = DepthAnything.read(c)
    d, parts = sizes.neck.levels.fusion_hidden_size, {"backbone": families.backbone(c)}
    model = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[DepthAnything]) -> Block:
    sizes, levels, d = s.own, s.own.neck.levels, s.own.neck.levels.fusion_hidden_size
    square = conv(d, d, 3, bias=True)
    prompt = block(convolution1=conv(1, d, 3, bias=True), convolution2=square, convolution3=square)
    more = {"prompt_depth_layer": prompt} if s.family == "prompt_depth_anything" else {}
    return block(
        backbone=families.tree(s.part("backbone")),
        neck=sizes.neck.tensors(levels.reassembling(sizes.reassemble_hidden_size), True, **more),
        head=shrinking(d, sizes.head_hidden_size),
    )
