"""LLaVA 1.5, -NeXT, -OneVision and -Video as they were released: a tower in a language model (arXiv:2408.03326)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.layers import within
from hfcount.architectures.layers.composite import as_tower, shared_copy
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# llava_qwen.py of LLaVA-VL/LLaVA-NeXT, and llava_mistral.py and llava_llama.py there
MODEL_TYPES = ("llava_qwen", "llava_mistral", "llava_llama")
CLASSES = ("LlavaQwenForCausalLM", "LlavaMistralForCausalLM", "LlavaLlamaForCausalLM")
IGNORED = (
    *("faster_token_stride", "force_sample", "image_crop_resolution", "image_grid_pinpoints", "image_split_resolution"),
    *("mm_spatial_pool_stride", "mm_vision_select_layer", "pos_skipping_range", "tokenizer_model_max_length"),
    *("use_mm_proj", "use_pos_skipping"),
)

_TEXTS = ("qwen2", "mistral", "llama")
_TEXT_OF = dict(zip((*MODEL_TYPES, *CLASSES), _TEXTS * 2, strict=True))

# siglip_encoder.py and clip_encoder.py of LLaVA-VL/LLaVA-NeXT: SigLIP's so400m at 384 pixels, without its last layer
# and its head, and CLIP's large tower at 336.
_TOWERS = {
    "google/siglip2?-so400m-patch14-384": ("siglip_vision_model", 1152, 4304, 26, 384),
    "openai/clip-vit-large-patch14": ("clip_vision_model", 1024, 4096, 24, 224),
    "openai/clip-vit-large-patch14-336": ("clip_vision_model", 1024, 4096, 24, 336),
}
_SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "image_size")


class LlavaQwen(Sizes):
    single: bool
    depth: int
    unpad: bool
    frozen: bool


def spec(c: Config) -> Spec[LlavaQwen]:
    heads = keys.named(("ForCausalLM",))
    folders = [name for name in ("llm", "vision_tower", "mm_projector") if c.has(f"{name}_cfg")]
    if folders and not c.has("mm_vision_tower"):  # llava_arch.py of NVlabs/VILA
        message = f"this is VILA, whose parts are in folders of their own: {', '.join(folders)}. --subfolder takes one."
        raise UnknownArchitecture(f"{c.where}: {message}")
    keys.head_of(c, heads)  # other classes have these types, too, and other keys
    name, kind = c.str("mm_vision_tower"), c.str("mm_projector_type", default="linear")
    tower = next((kind for pattern, kind in _TOWERS.items() if re.fullmatch(pattern, name)), None)
    deep = re.fullmatch(r"mlp(\d)x_gelu", kind)
    held = "mm_vision_tower" in c.str("mm_tunable_parts", default="")
    thawed = c.bool("unfreeze_mm_vision_tower", default=None)
    frozen = not held and thawed is False and not c.given("mm_tunable_parts")
    held = held or thawed is not None
    further = not c.is_null("mm_resampler_type") or c.bool("add_faster_video", default=False)
    if not (tower and held and (deep or kind == "linear")) or further or c.int("mm_hidden_size") != tower[1]:
        message = "is described with a tower of SigLIP or CLIP that was trained, or of which it says that it was not,"
        message += " and linear layers behind it, alone."
        raise UnknownArchitecture(f"{c.where}: {c.family} {message}")
    sizes = {"num_attention_heads": 16, "num_channels": 3, "patch_size": 14, "vision_use_head": False}
    sizes |= zip(_SIZES, tower[1:], strict=True)
    text_type = next(_TEXT_OF[name] for name in (*c.strs("architectures")[:1], c.family) if name in _TEXT_OF)
    text = families.read(c.as_part().varied("", {"architectures": None}), text_type)
    parts = {"vision": families.read(c.part("tower", defaults=sizes), tower[0]), "text": text}
    ends = "unpad" in c.str("mm_patch_merge_type", default="")
    ours = LlavaQwen.read(c, single=not deep, depth=max(int(deep[1]), 1) if deep else 1, unpad=ends, frozen=frozen)
    return keys.decoder_spec(c, text.layers, heads=heads, windows=text.windows, parts=parts).having(ours)


def blueprint(s: Spec[LlavaQwen]) -> Block:
    d, tower, of = s.hidden, s.part("vision"), s.own
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    first = Linear(tower.hidden, d, True)
    # An activation follows each linear layer but the last.
    later = Repeat(Indices.of(range(2, 2 * int(of.depth), 2)), Linear(d, d, True))
    chain = (Repeat(Indices.below(1), first), later)
    vision: Node = as_tower(families.tree(tower), "vision")
    children: dict[str, Node] = {
        # A tower that was not trained is taken from where it comes from.
        "vision_tower": block(vision_tower=block(vision_model=shared_copy(vision) if of.frozen else vision)),
        "mm_projector": as_tower(first if of.single else chain, "projector"),
    }
    if of.unpad:  # marks the end of a row of patches
        children["image_newline"] = Tensor((d,), component="projector")
    return within(text, model=Block(children))
