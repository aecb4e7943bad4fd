"""GOT-OCR2: SAM's tower, whose output two convolutions make smaller, before Qwen2 (arXiv:2409.01704)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_got_ocr2.py, modular_pp_chart2table.py
MODEL_TYPES = ("got_ocr2", "pp_chart2table")
SPELLINGS = LLAVA


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    vision_width = s.part("vision").out or 0
    projector = block(
        "projector",
        conv_upsampler1=convolution(vision_width, 2 * vision_width, 3, bias=False),
        conv_upsampler2=convolution(2 * vision_width, s.hidden, 3, bias=False),
        multimodal_projector=Linear(s.hidden, s.hidden, bias=True),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)
