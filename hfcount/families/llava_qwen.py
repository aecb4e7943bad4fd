"""LLaVA-OneVision and LLaVA-Video as they were released: SigLIP's tower inside Qwen2 (arXiv:2408.03326)."""

import re

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.parts import altered
from hfcount.parts.composite import sensed
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("llava_qwen",)  # llava_qwen.py of LLaVA-VL/LLaVA-NeXT
CLASSES = ("LlavaQwenForCausalLM",)
IGNORED = (
    *("faster_token_stride", "force_sample", "image_crop_resolution", "image_grid_pinpoints", "image_split_resolution"),
    *("mm_spatial_pool_stride", "mm_vision_select_layer", "pos_skipping_range", "tokenizer_model_max_length"),
    *("use_mm_proj", "use_pos_skipping"),
)

# siglip_encoder.py of LLaVA-VL/LLaVA-NeXT: SigLIP's so400m at 384 pixels, without its last layer and its head.
_TOWER = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 26,
    "num_attention_heads": 16,
    "num_channels": 3,
    "image_size": 384,
    "patch_size": 14,
    "vision_use_head": False,
}


def spec(c: Config) -> Spec:
    kind = c.str("mm_projector_type", default="linear")
    deep = re.fullmatch(r"mlp(\d)x_gelu", kind)
    held = "mm_vision_tower" in c.str("mm_tunable_parts", default="")
    held |= c.bool("unfreeze_mm_vision_tower", default=False)
    plain = (
        re.fullmatch("google/siglip2?-so400m-patch14-384", c.str("mm_vision_tower")),  # its sizes are _TOWER
        held,
        deep or kind == "linear",
        c.is_null("mm_resampler_type"),
        not c.bool("add_faster_video", default=False),
    )
    if not all(plain):
        raise UnknownArchitecture(
            f"{c.where}: llava_qwen is described as LLaVA-OneVision alone: with SigLIP trained, too."
        )
    text = families.read(c.as_part().varied("", {"architectures": None}), "qwen2")
    own = {"vision": families.read(c.part("siglip", defaults=_TOWER), "siglip_vision_model"), "text": text}
    if c.int("mm_hidden_size") != own["vision"].hidden:
        c.cannot_run("mm_hidden_size is not 1,152, as wide as the tower's output.", "mm_hidden_size", "Correct it.")
    ends = "unpad" in c.str("mm_patch_merge_type", default="")
    traits = {"single": not deep, "depth": max(int(deep[1]), 1) if deep else 1, "unpad": ends}
    return keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), windows=text.windows, parts=own, traits=traits)


def blueprint(s: Spec) -> Block:
    d, tower, of = s.hidden, s.parts["vision"], s.traits
    text = families.tree(s.parts["text"].but(head=s.head, tied=s.tied))
    body, first = text.children["model"], Linear(tower.hidden, d, True)
    assert isinstance(body, Block)
    # An activation follows each linear layer but the last.
    later = Repeat(Indices.of(range(2, 2 * int(of["depth"]), 2)), Linear(d, d, True))
    chain = (Repeat(Indices.of(range(1)), first), later)
    own: dict[str, Node] = {
        "vision_tower": block(vision_tower=block(vision_model=sensed(families.tree(tower), "vision"))),
        "mm_projector": sensed(first if of["single"] else chain, "projector"),
    }
    if of["unpad"]:  # marks the end of a row of patches
        own["image_newline"] = Tensor((d,), component="projector")
    return altered(text, model=altered(body, **own))
