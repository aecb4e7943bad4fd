"""DeepSeek-OCR 2 as it was released: SAM's tower, then Qwen2's layers over what it gives (arXiv:2601.20552)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.sam import SAM_B
from hfcount.architectures.layers import within
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.models.deepseek_ocr2_sam_vision_model import DeepseekOcr2Sam
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_deepseekocr2.py of deepseek-ai/DeepSeek-OCR-2, and its deepencoderv2.py
MODEL_TYPES = ("DeepseekOCR2",)
CLASSES = ("DeepseekOCR2ForCausalLM",)
IGNORED = (
    "candidate_resolutions",
    "global_view_pos",
    "language_config",
    "lm_head",
    "projector_config",
    "tile_tag",
    "vision_config",
)

# Towers and projector are the implementation's, whatever the config says of them.
_SAM = {**SAM_B, "downsample_channels": [512, 896]}
_QWEN2 = {
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
}


def spec(c: Config) -> Spec:
    # The class reads the language model's keys beside the towers', where the release writes them a second time.
    text = families.read(c.as_part(), "deepseek_vl_v2_text")
    towers = {
        "sam": families.read(c.part("sam", defaults=_SAM), "unlimited_ocr_sam_vision_model"),
        "vision": families.read(c.part("qwen2", defaults=_QWEN2), "deepseek_ocr2_encoder"),
    }
    return keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), parts={**towers, "text": text})


def blueprint(s: Spec) -> Block:
    d, sam, qwen2 = s.hidden, s.part("sam"), s.part("vision")

    def queries(across: int) -> Block:
        return block("embedding", weight=Tensor((across * across, qwen2.hidden)))

    vision_width = Block({**families.tree(qwen2).children, "query_768": queries(12), "query_1024": queries(16)})
    return within(
        families.tree(s.part("text").replace(head=s.head, tied=s.tied)),
        model=block(
            sam_model=as_tower(families.tree(sam), "vision"),
            qwen2_model=as_tower(vision_width, "vision"),
            projector=block("projector", layers=Linear(sam.sizes(DeepseekOcr2Sam).second, d, True)),
            view_seperator=Tensor((d,), component="projector"),
        ),
    )
