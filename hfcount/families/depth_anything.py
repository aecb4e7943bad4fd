"""Depth Anything, also prompted with a coarse depth: DINOv2 and a neck (arXiv:2401.10891, arXiv:2412.14015)."""

from hfcount import families, keys
from hfcount.keys.depth import reassembled
from hfcount.mapper import Config
from hfcount.parts.convolution import conv
from hfcount.parts.depth import fusion, neck, reassembling, shrinking
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_depth_anything.py, modeling_prompt_depth_anything.py
MODEL_TYPES = ("depth_anything", "prompt_depth_anything")
IGNORED = ("patch_size", "max_depth")

_HEADS = keys.named(ForDepthEstimation="depth_estimation")


def spec(c: Config) -> Spec:
    traits = {
        **reassembled(c),
        "reassemble_hidden_size": keys.sized("d_r", c.int("reassemble_hidden_size")),
        "head_hidden_size": keys.sized("d_h", c.int("head_hidden_size")),
    }
    d, parts = traits["fusion_hidden_size"], {"backbone": families.backbone(c)}
    return keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts, traits=traits).but(
        causal=False
    )


def blueprint(s: Spec) -> Block:
    d, of = s.traits["fusion_hidden_size"], s.traits
    square = conv(d, d, 3, bias=True)
    prompt = block(convolution1=conv(1, d, 3, bias=True), convolution2=square, convolution3=square)
    more = {"prompt_depth_layer": prompt} if s.family == "prompt_depth_anything" else {}
    return block(
        backbone=families.tree(s.parts["backbone"]),
        neck=neck(s, reassembling(s, of["reassemble_hidden_size"]), fusion(s, True, **more)),
        head=shrinking(d, of["head_hidden_size"]),
    )
