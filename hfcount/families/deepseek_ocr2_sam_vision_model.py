"""The tower of DeepSeek-OCR 2 and Unlimited OCR that sees details: SAM's, and two convolutions that halve the grid."""

from hfcount import keys
from hfcount.keys.sam_tower import sam as sam_keys
from hfcount.mapper import Config
from hfcount.parts.release_names import OCR_SAM
from hfcount.parts.sam_tower import sam
from hfcount.parts.vision import convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_deepseek_ocr2.py, modeling_unlimited_ocr.py
MODEL_TYPES = ("deepseek_ocr2_sam_vision_model", "unlimited_ocr_sam_vision_model")
IGNORED = ("scale",)
SPELLINGS = OCR_SAM


def spec(c: Config) -> Spec:
    usual = (512, 896 if c.family.startswith("deepseek") else 1024)
    wide = c.ints("downsample_channels", default=usual) or list(usual)
    if len(wide) != 2:
        raise c.error("downsample_channels must name two widths.", "downsample_channels", "Correct it.")
    traits = {f"channels.{place}": keys.sized(f"C{place + 1}", width) for place, width in enumerate(wide)}
    return sam_keys(c, traits)


def blueprint(s: Spec) -> Block:
    released = bool(s.place) or s.family.startswith("unlimited")
    first, second = s.traits["channels.0"], s.traits["channels.1"]
    halves = convolution(s.output, first, 3, bias=False), convolution(first, second, 3, bias=False)
    if released:
        return sam(s, released, net_2=halves[0], net_3=halves[1])
    return sam(s, proj=block("projector", conv1=halves[0], conv2=halves[1]))
