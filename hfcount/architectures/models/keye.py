"""Keye-VL and Keye-VL 1.5: SigLIP's tower for images of any size, squares of patches, Qwen3 (arXiv:2507.01949)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, within
from hfcount.architectures.layers.composite import shared_copy, towers_beside_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_keye.py of Kwai-Keye/Keye-VL-8B-Preview, keye.py of vllm-project/vllm 0.33,
# keye_vl1_5.py of vllm-project/vllm 0.33
MODEL_TYPES = ("Keye", "KeyeVL1_5")
IGNORED = ("spatial_merge_size", "temporal_patch_size", "tokens_per_second")

# KeyeTextConfig and KeyeVisionConfig, where they mean by absent keys what Qwen3's and SigLIP's classes do not.
_ABSENT = {
    "vocab_size": 152064,
    "hidden_size": 8192,
    "intermediate_size": 29568,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
}
_VISION_ABSENT = {"patch_size": 14}
_MERGED, _PACKED = 2 * 2, 32768  # patches in a square and places of patches in a pack, whatever the config says


def spec(c: Config) -> Spec:
    # Published configs have the language model's keys beside the others.
    inner = c.sub("text_config") or c.as_part("text_config").varied("", {"architectures": None})
    text = families.read(inner.assuming(_ABSENT), "qwen3")
    towers = {"vision": families.read(c.part("vision_config", defaults=_VISION_ABSENT), "siglip_vision_model")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration",))
    return model.replace(tied=keys.tied_anywhere(c, inner))


def blueprint(s: Spec) -> Block:
    vision, first = families.tree(s.part("vision")), s.family == "Keye"
    vision_width = s.part("vision").hidden
    wide = _MERGED * vision_width
    packed = block(packing_position_embedding=block("embedding", weight=Tensor((_PACKED, vision_width))))
    # The first release has what pools an image; engines do without.
    spared = () if first else ("head",)
    seen_as = {name: shared_copy(child) if name in spared else child for name, child in vision.children.items()}
    projector = block(
        "projector",
        pre_norm=layer_norm(vision_width if first else wide),
        linear_1=Linear(wide, wide, True),
        linear_2=Linear(wide, s.hidden, True),
    )
    tower = Block({"vision_model": within(Block(seen_as), embeddings=packed)}, "vision")
    return towers_beside_model(s, families.base(s), visual=tower, mlp_AR=projector)
