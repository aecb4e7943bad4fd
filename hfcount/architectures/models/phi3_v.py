"""Phi-3-vision: Phi-3-mini with CLIP's tower inside its embedding (arXiv:2404.14219)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import within
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("phi3_v",)  # modeling_phi3_v.py of microsoft/Phi-3.5-vision-instruct
IGNORED = ("embd_layer", "img_processor")

# The tower is the implementation's, whatever the config says: CLIP ViT-L/14 of 336 pixels.
_CLIP = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
}


def spec(c: Config) -> Spec:
    text, vision = (
        families.read(c.as_part(), "phi3"),
        families.read(c.part("vision", defaults=_CLIP), "clip_vision_model"),
    )
    parts = {"vision": vision, "text": text}
    return keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), parts=parts, windows=text.windows)


def blueprint(s: Spec) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    merged = 4 * vision_width  # of two by two patches
    tower = families.tower(s, "vision")
    image = block(
        "vision",
        glb_GN=Tensor((1, 1, merged)),
        sub_GN=Tensor((1, 1, 1, merged)),
        img_processor=block(vision_model=tower),
        img_projection=Block({"0": Linear(merged, d, True), "2": Linear(d, d, True)}, "projector"),
    )
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    return within(text, model=block(vision_embed_tokens=image))
