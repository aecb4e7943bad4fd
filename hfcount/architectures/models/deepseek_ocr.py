"""DeepSeek-OCR: SAM's tower, then CLIP's over what it gives, before DeepSeek-V2's layers (arXiv:2510.18234)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.sam import SAM_B
from hfcount.architectures.layers import within
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.models.deepseek_ocr2_sam_vision_model import DeepseekOcr2Sam
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_deepseekocr.py of deepseek-ai/DeepSeek-OCR, and its deepencoder.py; unlimited_ocr.py of
# sgl-project/sglang 0.5.23, whose model is the same as it was released, with a window for what follows the prompt
MODEL_TYPES = ("deepseek_ocr", "unlimited-ocr")
CLASSES = ("DeepseekOCRForCausalLM", "UnlimitedOCRForCausalLM")
IGNORED = ("candidate_resolutions", "language_config", "projector_config", "tile_tag", "vision_config")

_WINDOW = "it keeps a prompt whole, and a window of what follows it"

# Towers and projector are the implementation's, whatever the config says of them.
_CLIP = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 14,
}


def spec(c: Config) -> Spec:
    # The class reads the language model's keys beside the towers', where the release writes them a second time.
    text = families.read(c.as_part(), "deepseek_vl_v2_text")
    towers = {
        "sam": families.read(c.part("sam", defaults=SAM_B), "unlimited_ocr_sam_vision_model"),
        "vision": families.read(c.part("clip", defaults=_CLIP), "unlimited_ocr_vision_encoder"),
    }
    model = keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), parts={**towers, "text": text})
    return model.replace(uncounted=_WINDOW) if c.family == "unlimited-ocr" else model


def blueprint(s: Spec) -> Block:
    d, sam, clip = s.hidden, s.part("sam"), s.part("vision")
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    # It builds the projection of patches, in whose place it takes the first tower's output.
    patches = block("embedding", weight=Tensor((clip.hidden, *clip.seen.kernel)))
    projector = block("projector", layers=Linear(clip.hidden + sam.sizes(DeepseekOcr2Sam).second, d, True))
    tower = within(families.tree(clip), embeddings=block(patch_embedding=patches))
    return within(
        text,
        model=block(
            sam_model=as_tower(families.tree(sam), "vision"),
            vision_model=as_tower(tower, "vision"),
            projector=projector,
            image_newline=Tensor((d,), component="projector"),
            view_seperator=Tensor((d,), component="projector"),
        ),
    )
