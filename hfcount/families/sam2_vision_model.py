"""SAM 2's image encoder, also SAM 3's tracker's: a backbone and a neck to one width (arXiv:2408.00714)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.vision import convolution
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_sam2.py, modeling_edgetam.py
MODEL_TYPES = ("sam2_vision_model", "edgetam_vision_model")
IGNORED = ("backbone_feature_sizes", "fpn_stride", "fpn_padding", "fpn_top_down_levels", "num_feature_levels")

_CHANNELS = {"sam2_vision_model": (768, 384, 192, 96), "edgetam_vision_model": (384, 192, 96, 48)}


class Sam2VisionModel(Sizes):
    """What SAM 2's image encoder alone has; `channels` are those of the backbone's levels."""

    channels: tuple[int, ...]
    fpn_kernel_size: int = size("w_n")


def spec(c: Config) -> Spec[Sam2VisionModel]:
    widths = c.ints("backbone_channel_list", default=_CHANNELS[c.family], minimum=0)
    own = Sam2VisionModel.read(c, channels=tuple(keys.dim(f"C{n}", width) for n, width in enumerate(widths, 1)))
    parts = {"backbone": families.part(c, "backbone_config")}
    d = keys.dim("d_n", c.int("fpn_hidden_size"))
    return keys.encoding(c, (), hidden=d, parts=parts).having(own)


def blueprint(s: Spec[Sam2VisionModel]) -> Block:
    kernel = s.own.fpn_kernel_size
    levels = {str(place): convolution(width, s.hidden, kernel) for place, width in enumerate(s.own.channels)}
    return block(backbone=families.tree(s.parts["backbone"]), neck=block("projector", convs=Block(levels)))
