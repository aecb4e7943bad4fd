"""LLaVA 1.5, -NeXT, -OneVision and -Video as they were released: a tower in a language model (arXiv:2408.03326)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack, within
from hfcount.architectures.layers.composite import as_tower, shared_copy
from hfcount.architectures.layers.convolution import conv, normed
from hfcount.architectures.layers.vision import fused_square_attention
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# llava_qwen.py of LLaVA-VL/LLaVA-NeXT, and llava_mistral.py and llava_llama.py there; with FastViTHD's tower
# (arXiv:2412.13303), llava_qwen.py, llava_arch.py and mobileclip/mci.py of apple/ml-fastvlm
MODEL_TYPES = ("llava_qwen", "llava_mistral", "llava_llama", "llava_qwen2")
CLASSES = ("LlavaQwenForCausalLM", "LlavaMistralForCausalLM", "LlavaLlamaForCausalLM", "LlavaQwen2ForCausalLM")
IGNORED = (
    *("faster_token_stride", "force_sample", "image_crop_resolution", "image_grid_pinpoints", "image_split_resolution"),
    *("mm_spatial_pool_stride", "mm_vision_select_layer", "pos_skipping_range", "tokenizer_model_max_length"),
    *("use_mm_proj", "use_pos_skipping"),
)

_TEXTS = ("qwen2", "mistral", "llama", "qwen2")
_TEXT_OF = dict(zip((*MODEL_TYPES, *CLASSES), _TEXTS * 2, strict=True))

# siglip_encoder.py and clip_encoder.py of LLaVA-VL/LLaVA-NeXT: SigLIP's so400m at 384 pixels, without its last layer
# and its head, and CLIP's large tower at 336.
_TOWERS = {
    "google/siglip2?-so400m-patch14-384": ("siglip_vision_model", 1152, 4304, 26, 384),
    "openai/clip-vit-large-patch14": ("clip_vision_model", 1024, 4096, 24, 224),
    "openai/clip-vit-large-patch14-336": ("clip_vision_model", 1024, 4096, 24, 336),
}
_MOBILE = r"mobileclip_l_\d+"  # the name ends in the pixels of a side
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
    kind = c.str("mm_projector_type", default="linear")
    deep = re.fullmatch(r"mlp(\d)x_gelu", kind)
    vision, frozen = _vision(c, bool(deep) or kind == "linear")
    text_type = next(_TEXT_OF[name] for name in (*c.strs("architectures")[:1], c.family) if name in _TEXT_OF)
    text = families.read(c.as_part().varied("", {"architectures": None}), text_type)
    parts = {"vision": vision, "text": text}
    ends = "unpad" in c.str("mm_patch_merge_type", default="")
    ours = LlavaQwen.read(c, single=not deep, depth=max(int(deep[1]), 1) if deep else 1, unpad=ends, frozen=frozen)
    return keys.decoder_spec(c, text.layers, heads=heads, windows=text.windows, parts=parts).having(ours)


def _vision(c: Config, projected: bool) -> tuple[Spec, bool]:
    """The tower, and whether it was not trained and is not stored; `projected` is whether its projector is known.

    Raises:
        UnknownArchitecture: it is another one.
    """
    name = c.str("mm_vision_tower")
    mobile = re.fullmatch(_MOBILE, name) is not None
    tower = next((kind for pattern, kind in _TOWERS.items() if re.fullmatch(pattern, name)), None)
    held = "mm_vision_tower" in c.str("mm_tunable_parts", default="")
    thawed = c.bool("unfreeze_mm_vision_tower", default=None)
    frozen = not held and thawed is False and not c.given("mm_tunable_parts")
    held = held or (thawed is not None and (thawed or not mobile))
    further = c.value("mm_resampler_type") is not None or c.bool("add_faster_video", default=False)
    plain, width = projected and held and not further, c.int("mm_hidden_size")
    if plain and mobile and width == (vision := families.read(c.part("tower"), "fastvithd")).hidden:
        return vision, False
    later = c.family == "llava_qwen2" or "LlavaQwen2ForCausalLM" in c.strs("architectures")
    if not plain or later or tower is None or width != tower[1]:
        message = "is described with a tower of SigLIP or CLIP that was trained, or of which it says that it was not,"
        message += " or FastViTHD's that was, and linear layers behind it, alone."
        raise UnknownArchitecture(f"{c.where}: {c.family} {message}")
    sizes = {"num_attention_heads": 16, "num_channels": 3, "patch_size": 14, "vision_use_head": False}
    sizes |= zip(_SIZES, tower[1:], strict=True)
    return families.read(c.part("tower", defaults=sizes), tower[0]), frozen


def blueprint(s: Spec[LlavaQwen]) -> Block:
    d, tower, of = s.hidden, s.part("vision"), s.own
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    first = Linear(tower.hidden, d, True)
    # An activation follows each linear layer but the last.
    later = Repeat(Indices.of(range(2, 2 * int(of.depth), 2)), Linear(d, d, True))
    chain = (Repeat(Indices.below(1), first), later)
    vision: Node = as_tower(families.tree(tower), "vision")
    named = "model" if tower.family == "fastvithd" else "vision_model"
    children: dict[str, Node] = {
        # A tower that was not trained is taken from where it comes from.
        "vision_tower": block(vision_tower=Block({named: shared_copy(vision) if of.frozen else vision})),
        "mm_projector": as_tower(first if of.single else chain, "projector"),
    }
    if of.unpad:  # marks the end of a row of patches
        children["image_newline"] = Tensor((d,), component="projector")
    return within(text, model=Block(children))


# fastvithd() of mci.py, and configs/mobileclip_l.json beside it: layers of each stage, widths, how many stages attend.
_STAGES = ((2, 96), (12, 192), (24, 384), (4, 768), (2, 1536))
_ATTENDING, _HEAD_DIM, _RATIO, _WIDE, _SMALL, _PROJECTED = 2, 32, 4, 7, 3, 768


def fastvithd_spec(c: Config) -> Spec:
    """FastViTHD: FastViT with a fifth stage, whose convolutions are merged (arXiv:2412.13303)."""
    layers = []
    for number, (depth, width) in enumerate(_STAGES):
        d = keys.dim(f"d{number + 1}", width)
        heads = width // _HEAD_DIM
        mixer = GQA(heads=heads, kv_heads=heads, head_dim=_HEAD_DIM, out_bias=True)
        attends = number >= len(_STAGES) - _ATTENDING
        layer = Layer(mixer=mixer if attends else None, ffn=Dense(width=_RATIO * d, bias=True), stage_width=d)
        layers.append(Layers(indices=Indices.below(depth), layer=layer))
    return keys.imaging(c, layers, keys.named(("Model",)), hidden=2 * layers[-1].layer.width, uncounted=keys.COARSER)


def fastvithd_blueprint(s: Spec) -> Block:
    d, network = s.layers[0].layer.width, list[Node]()
    stem = {"0": _merged(3, d, _SMALL), "1": _merged(d, d, _SMALL, d), "2": _merged(d, d, 1)}
    for number, part in enumerate(s.layers):
        before, d = d, part.layer.width
        if number:
            wide = block(lkb_reparam=conv(before, d, _WIDE, groups=before, bias=True))
            network.append(block(proj=Block({"0": wide, "1": _merged(d, d, 1)})))
        if part.layer.mixer:
            network.append(_merged(d, d, _WIDE, d))  # places
        network.append(stack((part,), _mobile_layer))
    out, narrow = s.hidden, s.hidden // 16
    squeeze = block(reduce=conv(out, narrow, 1, bias=True), expand=conv(narrow, out, 1, bias=True))
    return block(
        patch_embed=Block(stem),
        network=Block({str(number): one for number, one in enumerate(network)}),
        conv_exp=block(se=squeeze, **_merged(d, out, _SMALL, d).children),
        head=block("other", proj=Tensor((out, _PROJECTED))),
    )


def _merged(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    return block(reparam_conv=conv(inputs, outputs, side, groups=groups, bias=True))


def _mobile_layer(layer: Layer) -> Block:
    d, wide = layer.width, layer.dense.width
    scale, local = Tensor((d, 1, 1), component="other"), normed(d, d, _WIDE, groups=d, names=("conv", "bn"))
    network = block("mlp", conv=local, fc1=conv(d, wide, 1, bias=True), fc2=conv(wide, d, 1, bias=True))
    if not layer.mixer:
        return block(token_mixer=_merged(d, d, _SMALL, d), convffn=network, layer_scale=scale)
    attention = fused_square_attention(d, bias=False)
    return block(norm=layer_norm(d), token_mixer=attention, convffn=network, layer_scale_1=scale, layer_scale_2=scale)


PARTS = (families.Family(("fastvithd",), fastvithd_spec, fastvithd_blueprint),)
