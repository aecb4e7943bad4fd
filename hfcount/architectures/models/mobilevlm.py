"""MobileVLM: CLIP's tower in a small Llama, behind few convolutions (arXiv:2312.16886, arXiv:2402.03766)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, within
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.layers.convolution import conv, depthwise
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

# mobilellama.py, vision_encoder.py and vision_projector.py of Meituan-AutoML/MobileVLM
MODEL_TYPES = ("mobilevlm",)
CLASSES = ("MobileLlamaForCausalLM",)
IGNORED = ("max_sequence_length", "mm_vision_select_layer", "tokenizer_model_max_length", "use_mm_proj")

# Its tower is one of CLIP's large ones, by name; what differs is the side of an image.
_SIDES = {"openai/clip-vit-large-patch14": 224, "openai/clip-vit-large-patch14-336": 336}
_WIDTH = 1024
_CLIP = {"hidden_size": _WIDTH, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16}


class MobileVlm(Sizes):
    """The projector: whether it mixes neighbours, in residual layers of how many channels, and its linear layers."""

    mixing: bool
    residual: bool
    single: bool
    depth: int
    mixed: int
    squeezed: int


def spec(c: Config) -> Spec[MobileVlm]:
    name, kind = c.str("mm_vision_tower"), c.str("mm_projector_type", default="linear")
    deep, mixing = re.fullmatch(r"mlp(\d+)x_gelu", kind), kind.startswith("ldpnet")
    side = _SIDES.get(name) if c.str("vision_tower_type", default="") == "clip" else None
    width, plain = c.int("mm_hidden_size"), deep or mixing or kind == "linear"
    if side is None or not plain or width != _WIDTH:
        message = f"MobileVLM is described with a tower of {' or '.join(_SIDES)} alone, and the projectors of its code."
        raise UnknownArchitecture(f"{c.where}: {message}")
    sizes = {**_CLIP, "num_channels": 3, "patch_size": 14, "image_size": side}
    vision = families.read(c.part("tower", defaults=sizes), "clip_vision_model")
    text = families.read(c.as_part().varied("", {"architectures": None}), "llama")
    residual = mixing and not kind.startswith("ldpnetv2")
    mixed, squeezed = _mixed(c, text.hidden) if residual else (0, 0)
    depth = max(int(deep[1]), 1) if deep else 1
    ours = MobileVlm.read(
        c, mixing=mixing, residual=residual, single=kind == "linear", depth=depth, mixed=mixed, squeezed=squeezed
    )
    parts = {"vision": vision, "text": text}
    heads = keys.named(("ForCausalLM",))
    return keys.decoder_spec(c, text.layers, heads=heads, windows=text.windows, parts=parts).having(ours)


def _mixed(c: Config, hidden: int) -> tuple[int, int]:
    """The channels of the residual layers, those of their squeezing."""
    mixed = keys.rounded(int(hidden), 8)
    if mixed != hidden:
        text = f"hidden_size is {hidden:,}, which is no multiple of 8, and so its projector mixes {mixed:,} channels."
        c.cannot_run("not-divisible", text, "hidden_size", "Correct it.", observed=int(hidden))
        hidden = keys.derived_dim(c, "m", mixed, f"{{hidden_size}}, rounded, {keys.channels(8)}")
    rule = f"{{hidden_size}} / 4, rounded, {keys.channels(8)}"
    return hidden, keys.derived_dim(c, "r", keys.rounded(mixed // 4, 8), rule)


def _residual(d: int, squeezed: int) -> Block:
    """MobileNet 3's, not widened: a depthwise convolution, squeeze and excitation, and a pointwise one."""
    return Block(
        {
            "0": Block({"0": depthwise(d, 3), "1": layer_norm(d)}),
            "1": block(fc1=conv(d, squeezed, 1, bias=True), fc2=conv(squeezed, d, 1, bias=True)),
            "2": Block({"0": conv(d, d, 1), "1": layer_norm(d)}),
        }
    )


def _projector(of: MobileVlm, seen: int, d: int) -> Node:
    first, later = Linear(seen, d, True), Linear(d, d, True)
    if of.residual:
        mixed = Repeat(Indices.of(range(1, 3)), block(block=_residual(of.mixed, of.squeezed)))
        return block(model=block(mlp=Block({"1": first, "3": later}), mb_block=mixed))
    if of.mixing:
        places = block(peg=Block({"0": depthwise(d, 3, bias=True)}))
        return block(mlp=block(mlp=Block({"0": first, "2": later})), peg=places)
    # An activation follows each linear layer but the last.
    return (
        first
        if of.single
        else (Repeat(Indices.below(1), first), Repeat(Indices.of(range(2, 2 * int(of.depth), 2)), later))
    )


def blueprint(s: Spec[MobileVlm]) -> Block:
    tower = s.part("vision")
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    vision = as_tower(block(vision_tower=block(vision_model=families.tree(tower))), "vision")
    projector = as_tower(_projector(s.own, tower.hidden, s.hidden), "projector")
    return within(text, model=block(vision_tower=vision, mm_projector=projector))
