"""LocateAnything: Qwen2's layers, Kimi's vision tower, and a projector behind a norm."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.models.kimi_k25_vision import KimiK25Vision
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear

# locateanything.py of Blaizzy/mlx-vlm 0.7.10, locate_anything.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("locateanything",)
IGNORED = ("mlp_connector_layers", "n_future_tokens")
CLASSES = ("LocateAnythingForConditionalGeneration",)


def spec(c: Config) -> Spec:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config", "moonvit")
    model = keys.composite(c, text, {"vision": vision}, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=text.tied)  # both readers ask the language model's config alone


def blueprint(s: Spec) -> Block:
    vision, d = s.part("vision"), s.hidden
    vision_width = vision.sizes(KimiK25Vision).merged * vision.hidden
    projector = Block(
        {"0": layer_norm(vision_width), "1": Linear(vision_width, d, True), "3": Linear(d, d, True)}, "projector"
    )
    return llava(s, families.base(s), vision_model=families.tower(s, "vision"), mlp1=projector)
