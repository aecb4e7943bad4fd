"""OpenVLA and the Prismatic VLMs that it is made of: towers of timm before a language model (arXiv:2406.09246)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.clip_timm import PROBE, features
from hfcount.architectures.components.timm.arguments import Listed, form, listed
from hfcount.architectures.components.timm.catalogue import TimmSizes
from hfcount.architectures.components.timm.names import COLOURS
from hfcount.architectures.layers.composite import rebased, renamed
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_prismatic.py of openvla/openvla, with its configuration_prismatic.py, and openvla.py of vllm-project/vllm
# 0.33.0, which takes two towers of DINOv2 and SigLIP alone
MODEL_TYPES = ("openvla", "prismatic")
CLASSES = ("OpenVLAForActionPrediction", "PrismaticForConditionalGeneration")
IGNORED = tuple(
    """
    arch_specifier hf_llm_id image_resize_strategy llm_max_length n_action_bins norm_stats output_projector_states
    pad_to_multiple_of timm_override_act_layers
    """.split()
)

_DINO = "vit_large_patch14_reg4_dinov2.lvd142m"
_CLIP = "vit_large_patch14_clip"
_SIGLIP = "vit_so400m_patch14_siglip"
_TOWERS = {
    "clip-vit-l": ((f"{_CLIP}_224.openai", 224),),
    "clip-vit-l-336px": ((f"{_CLIP}_336.openai", 336),),
    "dinov2-vit-l": ((_DINO, 224),),
    "in1k-vit-l": (("vit_large_patch16_224.augreg_in21k_ft_in1k", 224),),
    "siglip-vit-so400m": ((f"{_SIGLIP}_224", 224),),
    "siglip-vit-so400m-384px": ((f"{_SIGLIP}_384", 384),),
    "dinoclip-vit-l-336px": ((_DINO, 336), (f"{_CLIP}_336.openai", 336)),
    "dinosiglip-vit-so-224px": ((_DINO, 224), (f"{_SIGLIP}_224", 224)),
    "dinosiglip-vit-so-384px": ((_DINO, 384), (f"{_SIGLIP}_384", 384)),
}
"""What timm_model_ids and image_sizes are by vision_backbone_id, where the config does not give them."""
_TEXTS = {"mistral": "mistral", "phi": "phi"}
"""Types of language models by how llm_backbone_id begins; others are llama."""


class OpenVla(Sizes):
    """The towers, side by side, and the width of a patch that all of them give together."""

    towers: tuple[Listed, ...]
    seen: int


def spec(c: Config) -> Spec[OpenVla]:
    chosen = c.str("vision_backbone_id", default="siglip-vit-so400m")
    if chosen not in _TOWERS:
        message = f"vision_backbone_id is {chosen}, which is not described."
        raise c.error("unknown-kind", message, "vision_backbone_id", observed=chosen)
    names = c.strs("timm_model_ids") or [name for name, _ in _TOWERS[chosen]]
    sides = c.ints("image_sizes", default=[side for _, side in _TOWERS[chosen]], minimum=1)
    fused = c.bool("use_fused_vision_backbone", default=chosen.startswith(("dinoclip", "dinosiglip")))
    count = 1 + fused
    if len(names) < count or len(sides) < count:
        message = f"{count} towers need as many timm_model_ids, now {len(names)}, and image_sizes, now {len(sides)}."
        raise c.error("list-length", message, "timm_model_ids", "Correct them.")
    towers = tuple(_tower(c, place, names[place], int(sides[place])) for place in range(count))
    kind = c.str("llm_backbone_id", default="vicuna-v15-7b").partition("-")[0]
    text = families.part(c, "text_config", _TEXTS.get(kind, "llama")).replace(head="causal_lm")
    sizes = OpenVla.read(c, towers=towers, seen=sum(features(tower, c.where) for tower in towers))
    heads = keys.named(("ForConditionalGeneration",), ForActionPrediction="causal_lm")
    return keys.composite(c, text, {}, heads=heads).replace(tied=text.tied).having(sizes)


def _tower(c: Config, place: int, name: str, side: int) -> Listed:
    model = listed(c, name.partition(".")[0])
    chosen = form(c, name, model, (side, side))
    rule = " · ".join(f"({{image_sizes}}[{place}] / {extent})" for extent in model.image[2])
    patches = chosen.patches and keys.derived_dim(c, f"N_p{place + 1}", chosen.patches, rule)
    tower = Listed(name=name.partition(".")[0], root=chosen.root, sizes=TimmSizes(PROBE, COLOURS, patches))
    if "blocks" not in tower.tensors(0).children:
        raise c.error("unknown-kind", f"{name} is no tower of blocks, whose features are read.", "timm_model_ids")
    return tower


def blueprint(s: Spec[OpenVla]) -> Block:
    d, seen = s.hidden, s.own.seen
    scales = {"ls1.gamma": "scale_factor", "ls2.gamma": "scale_factor"}  # which timm calls gamma
    towers = [renamed(one.tensors(0), scales) for one in s.own.towers]
    fused = len(towers) > 1
    wide = 4 * seen if fused else d
    return block(
        vision_backbone=Block(
            {
                name: tower.replace(component="vision", repeats=0)
                for name, tower in zip(("featurizer", "fused_featurizer"), towers, strict=False)
            }
        ),
        projector=block(
            "projector",
            fc1=Linear(seen, wide, True),
            fc2=Linear(wide, d, True),
            fc3=Linear(d, d, True) if fused else None,
        ),
        language_model=rebased(families.tree(s.part("text")), "language_model"),
    )
