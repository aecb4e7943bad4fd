"""GOT-OCR 2.0: SAM's tower and two convolutions before Qwen2 (arXiv:2409.01704)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import LLAVA
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Tensor, Undescribed, block

MODEL_TYPES = ("got_ocr2",)  # transformers 5.23: modeling_got_ocr2.py
SPELLINGS = LLAVA


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    channels = keys.sized("C_o", c.part("vision_config").int("output_channels", default=256))
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, text, {}, tied=True, heads=heads, traits={"output_channels": channels})


def blueprint(s: Spec) -> Block:
    seen = s.traits["output_channels"]
    projector = block(
        "projector",
        conv_upsampler1=block(weight=Tensor((2 * seen, seen, 3, 3))),
        conv_upsampler2=block(weight=Tensor((s.hidden, 2 * seen, 3, 3))),
        multimodal_projector=Linear(s.hidden, s.hidden, bias=True),
    )
    tower = Undescribed("its tower adds relative positions to windows, and is not described")
    return llava(s, families.base(s), vision_tower=tower, multi_modal_projector=projector)
