"""SAM 2's image encoder, also SAM 3's tracker's: a backbone and a neck to one width (arXiv:2408.00714)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.vision import convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_sam2.py, modeling_edgetam.py
MODEL_TYPES = ("sam2_vision_model", "edgetam_vision_model")
IGNORED = ("backbone_feature_sizes", "fpn_stride", "fpn_padding", "fpn_top_down_levels", "num_feature_levels")

_CHANNELS = {"sam2_vision_model": (768, 384, 192, 96), "edgetam_vision_model": (384, 192, 96, 48)}


def spec(c: Config) -> Spec:
    widths = c.ints("backbone_channel_list", default=_CHANNELS[c.family], minimum=0)
    traits = {f"channels.{place}": keys.sized(f"C{place + 1}", width) for place, width in enumerate(widths)}
    traits["fpn_kernel_size"] = keys.sized("w_n", c.int("fpn_kernel_size"))
    parts = {"backbone": families.part(c, "backbone_config")}
    d = keys.sized("d_n", c.int("fpn_hidden_size"))
    return keys.encoding(c, (), hidden=d, parts=parts, traits={**traits, "levels": len(widths)})


def blueprint(s: Spec) -> Block:
    of = s.traits
    levels = {
        str(place): convolution(of[f"channels.{place}"], s.hidden, of["fpn_kernel_size"])
        for place in range(of["levels"])
    }
    return block(backbone=families.tree(s.parts["backbone"]), neck=block("projector", convs=Block(levels)))
