"""Isaac: SigLIP 2's tower for images of any size, squares of places, Qwen3 (card of PerceptronAI/Isaac-0.1)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import within
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear

# modular_isaac.py of PerceptronAI/Isaac-0.1, isaac.py of vllm-project/vllm 0.33
MODEL_TYPES = ("isaac",)
CLASSES = ("IsaacForConditionalGeneration",)
IGNORED = (
    "image_size",
    "pixel_shuffle_scale",
    "max_sequence_length",
    "video_patch_size",
    "vision_attn_implementation",
    "vision_max_num_patches",
    "vision_min_num_patches",
    "vision_patch_size",
)
SPELLINGS = {
    r"^model\.(text_model\.)?lm_head\.": "lm_head.",
    r"^model\.text_model\.": "model.",
    r"vision_embedding\.transformer\.": "vision_embedding.0.",
    r"vision_embedding\.linear_fc1\.": "vision_embedding.1.",
    r"vision_embedding\.linear_fc2\.": "vision_embedding.3.",
}


class Isaac(Sizes):
    """Sizes specific to Isaac: how many places along each side become one token."""

    pixel_shuffle_scale_factor: int = size("m", absent=1)


def spec(c: Config) -> Spec[Isaac]:
    # The first configs have the language model's keys beside the others.
    inner = c.sub("text_config") or c.as_part("text_config").varied("", {"architectures": None})
    vision = c.part("vision_config", defaults={"num_patches": 256})
    inner.kind, vision.kind = "qwen3", "siglip2_vision_model"
    text, sizes = families.read(inner, "qwen3"), Isaac.read(vision)
    towers = {"vision": families.read(vision.varied("", {"vision_use_head": False}), "siglip2_vision_model")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration",))
    return model.replace(tied=keys.tied_anywhere(c, inner)).having(sizes)


def blueprint(s: Spec[Isaac]) -> Block:
    text = families.tree(s.part("text").replace(head="causal_lm", tied=s.tied))
    side = s.own.pixel_shuffle_scale_factor
    joined = side * side * s.part("vision").hidden
    up, down = Linear(joined, 4 * joined, component="projector"), Linear(4 * joined, s.hidden, component="projector")
    tower = Block({"0": families.tower(s, "vision"), "1": up, "3": down}, repeats=0)
    return within(text, model=Block({"vision_embedding": tower}))
