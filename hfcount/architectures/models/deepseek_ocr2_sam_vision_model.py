"""The tower of DeepSeek-OCR 2 and Unlimited OCR that sees details: SAM's, and two convolutions that halve the grid."""

from hfcount.architectures import keys
from hfcount.architectures.components.sam import SamTower, sam_tower
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_deepseek_ocr2.py, modeling_unlimited_ocr.py
MODEL_TYPES = ("deepseek_ocr2_sam_vision_model", "unlimited_ocr_sam_vision_model")
IGNORED = ("scale",)
# Names of SAM's tower in the releases of DeepSeek's models that read documents.
SPELLINGS = {
    r"\bblocks\.(\d+)\.norm([12])\.": r"layers.\1.layer_norm\2.",
    r"\bblocks\.": "layers.",
    r"\bpatch_embed\.proj\.": "patch_embed.projection.",
    r"\bneck\.0\.": "neck.conv1.",
    r"\bneck\.1\.": "neck.layer_norm1.",
    r"\bneck\.2\.": "neck.conv2.",
    r"\bneck\.3\.": "neck.layer_norm2.",
    r"\bnet_2\.": "proj.conv1.",
    r"\bnet_3\.": "proj.conv2.",
}


class DeepseekOcr2Sam(Record):
    """Sizes specific to this tower: the channels of its convolutions."""

    tower: SamTower
    first: int
    second: int


def spec(c: Config) -> Spec[DeepseekOcr2Sam]:
    usual = (512, 896 if c.family.startswith("deepseek") else 1024)
    wide = c.ints("downsample_channels", default=usual) or list(usual)
    if len(wide) != 2:
        raise c.error("list-length", "downsample_channels must name two widths.", "downsample_channels", "Correct it.")
    first, second = (keys.dim(f"C{number}", width) for number, width in enumerate(wide, 1))
    model = sam_tower(c)
    return model.having(DeepseekOcr2Sam(tower=model.own, first=first, second=second))


def blueprint(s: Spec[DeepseekOcr2Sam]) -> Block:
    released = bool(s.place) or s.family.startswith("unlimited")
    tower, first, second = s.own.tower, s.own.first, s.own.second
    halves = convolution(s.output, first, 3, bias=False), convolution(first, second, 3, bias=False)
    if released:
        return tower.tensors(s, released, net_2=halves[0], net_3=halves[1])
    return tower.tensors(s, proj=block("projector", conv1=halves[0], conv2=halves[1]))
