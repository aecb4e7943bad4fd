"""GOT-OCR 2 as it was released: SAM's tower inside Qwen2 (arXiv:2409.01704)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.sam import SAM_B
from hfcount.architectures.layers import within
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.models.deepseek_ocr2_sam_vision_model import DeepseekOcr2Sam
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("GOT",)  # modeling_GOT.py of stepfun-ai/GOT-OCR2_0
CLASSES = ("GOTQwenForCausalLM",)
IGNORED = (
    *("freeze_vision_tower", "im_end_token", "im_patch_token", "im_start_token", "image_token_len"),
    *("use_im_start_end", "vision_select_layer"),
)


def spec(c: Config) -> Spec:
    text = families.read(c.as_part().varied("", {"architectures": None}), "qwen2")
    vision = families.read(c.part("sam", defaults=SAM_B), "unlimited_ocr_sam_vision_model")
    parts = {"vision": vision, "text": text}
    if text.hidden != vision.sizes(DeepseekOcr2Sam).second:  # the projector between them is square
        c.cannot_run(
            "contradiction", "hidden_size is not 1,024, as wide as the tower's output.", "hidden_size", "Correct it."
        )
    return keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), windows=text.windows, parts=parts)


def blueprint(s: Spec) -> Block:
    tower, text = s.part("vision"), families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    wide = tower.sizes(DeepseekOcr2Sam).second
    senses = as_tower(families.tree(tower), "vision")
    projector = Linear(wide, wide, True, "projector")
    return within(text, model=block(vision_tower_high=senses, mm_projector_vary=projector))
