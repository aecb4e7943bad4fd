"""Phi-4-reasoning-vision: Phi-3's layers behind a tower of SigLIP or SigLIP 2 and linear layers (its card)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.layers import within
from hfcount.architectures.layers.composite import as_tower
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# modeling_phi4_visionr.py of microsoft/Phi-4-reasoning-vision-15B, phi4siglip.py of vllm-project/vllm 0.33.0
MODEL_TYPES = ("phi4-siglip",)
CLASSES = ("Phi4ForCausalLMV",)
IGNORED = tuple(
    """
    continuous_training freeze_mm_mlp_adapter max_num_patches min_num_patches mm_projector_lr tokenizer_model_max_length
    tokenizer_padding_side tune_mm_mlp_adapter unfreeze_vision_tower use_mm_proj use_s2
    """.split()
)
# From version 5 of transformers on the tower's names have one level less.
SPELLINGS = {r"^model\.vision_tower\.vision_tower\.vision_model\.": "model.vision_tower.vision_tower."}


class Phi4Siglip(Sizes):
    """Sizes of Phi-4-reasoning-vision: the depth of its projector, and whether it is one layer without a number.

    A depth of 0 is none at all.
    """

    depth: int
    single: bool


def spec(c: Config) -> Spec[Phi4Siglip]:
    text = families.read(c.as_part().varied("", {"architectures": None}), "phi3")
    name = c.str("mm_vision_tower").lower()
    if "siglip" not in name:
        raise c.error("unknown-kind", "mm_vision_tower names no tower of SigLIP.", "mm_vision_tower")
    second, inner = "naflex" in name, c.part("vision_config")
    if second:
        inner.assuming({"patch_size": 14 if "patch14" in name else 16})
    vision = families.part(c, "vision_config", "siglip2_vision_model" if second else "siglip_vision_model")
    narrow = c.int("mm_hidden_size", default=1152)
    if narrow != vision.hidden:
        message = f"mm_hidden_size is {narrow:,}, and hidden_size in vision_config {vision.hidden:,}."
        c.cannot_run("contradiction", message, "mm_hidden_size", "Correct one of them.")
    sizes = _projector(c)
    parts = {"vision": vision.replace(out=keys.dim("d_m", narrow)), "text": text}
    heads = keys.named(("ForCausalLM",), ForCausalLMV="causal_lm")
    model = keys.decoder_spec(c, text.layers, heads=heads, windows=text.windows, parts=parts)
    return model.having(sizes)


def _projector(c: Config) -> Phi4Siglip:
    kind = c.str("mm_projector_type", default="mlp2x_gelu")
    deep = re.fullmatch(r"mlp([0-9]{1,9})x_gelu", kind)
    if not deep and kind not in ("linear", "identity"):
        text = "mm_projector_type must be linear, identity or mlpNx_gelu, where N is a number of layers."
        raise c.error("unknown-kind", text, "mm_projector_type")
    depth = max(1, int(deep[1])) if deep else int(kind == "linear")
    if depth > MAX_LAYERS:
        text = f"mm_projector_type asks for {depth:,} layers, and {MAX_LAYERS:,} are the most."
        raise c.error("out-of-range", text, "mm_projector_type")
    return Phi4Siglip.read(c, depth=depth, single=not deep)


def blueprint(s: Spec[Phi4Siglip]) -> Block:
    d, vision, of = s.hidden, s.part("vision"), s.own
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    first = Linear(vision.output, d, True)
    # An activation follows each linear layer but the last.
    later = Repeat(Indices.of(range(2, 2 * int(of.depth), 2)), Linear(d, d, True))
    projector = first if of.single else (Repeat(Indices.below(1), first), later)
    tower = block(vision_tower=block(vision_model=families.tower(s, "vision")))
    sizes = {"vision_tower": tower, **({"mm_projector": as_tower(projector, "projector")} if of.depth else {})}
    return within(text, model=Block(sizes))
