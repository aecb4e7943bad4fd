"""Ovis 1.6 to 2.6 as released: a tower whose output picks rows of a table of visual words (arXiv:2405.20797)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.aimv2 import FusedAimv2, fused_aimv2
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.vision import clip_layer, patch_convolution, patch_projection
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Head, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_ovis.py of AIDC-AI/Ovis2-1B, modeling_ovis2_5.py of AIDC-AI/Ovis2.5-2B, modeling_aimv2.py of
# AIDC-AI/Ovis2-1B, modeling_siglip2_navit.py of AIDC-AI/Ovis, modeling_aimv2_navit_rope.py of
# OPPOer/AndesVL-1B-Instruct, and, for version 2.6, ovis2_5.py of vllm-project/vllm 0.33.0, which loads it as 2.5
MODEL_TYPES = ("ovis", "ovis2_5", "ovis2_6", "ovis2_6_moe")
CLASSES = ("Ovis2_6ForCausalLM", "Ovis2_6_MoeForCausalLM")
IGNORED = ("depths", "multimodal_max_length", "tau")

_BACKBONES = {"aimv2": "ovis_aimv2", "siglip_vision_model": "siglip_vision_model"}


class Ovis(Sizes):
    """Sizes specific to Ovis.

    Args:
        words: visual words, of which `indicators` mark an image.
        stride: how many outputs of the tower along each side are one.
        later: whether it is version 2.5 or 2.6.
    """

    words: int
    indicators: int
    stride: int
    later: bool


def spec(c: Config) -> Spec[Ovis]:
    later = bool(c.sub("vit_config")) or c.family.startswith("ovis2_6")
    text = families.part(c, "llm_config").replace(head="causal_lm")
    tokenizer = c if later else c.part("visual_tokenizer_config")
    if later:
        vision = families.part(c, "vit_config", "siglip2_navit")
        stride = vision.sizes(Siglip2Navit).hidden_stride
        words, indicators = c.int("visual_vocab_size", default=65536), 4
    else:
        kind = tokenizer.part("backbone_config").str("model_type", default="")
        if kind not in _BACKBONES or tokenizer.has("use_indicators"):
            raise UnknownArchitecture(f"{c.where}: Ovis is described from 1.6 on, with AIMv2's tower or SigLIP's.")
        vision = families.part(tokenizer, "backbone_config", _BACKBONES[kind])
        stride = keys.dim("m", tokenizer.int("hidden_stride", default=1))
        words, indicators = tokenizer.int("vocab_size", default=16384), 5
    if words <= indicators:
        message = f"There are {words:,} visual words, and {indicators} of them mark an image."
        raise tokenizer.error("out-of-range", message, "vocab_size")
    sizes = Ovis.read(c, words=keys.dim("|V_v|", words), indicators=indicators, stride=stride, later=later)
    heads: dict[str, Head] = dict.fromkeys(("Ovis", "Ovis2_5", *CLASSES), "causal_lm")
    tied = text.tied and not c.bool("disable_tie_weight", default=False)
    model = keys.composite(c, text, {"vision": vision}, key="llm_config", heads=heads)
    return model.replace(tied=tied).having(sizes)


def blueprint(s: Spec[Ovis]) -> Block:
    of, vision = s.own, s.part("vision")
    words, vision_width = of.words - of.indicators, of.stride * of.stride * vision.hidden
    tower = families.tower(s, "vision")
    if vision.family == "siglip_vision_model":
        tower = Block({"vision_model": tower}, "vision", 0)
    head = Block({"0": Linear(vision_width, words), "1": layer_norm(words)}, "projector")
    sight = {"vit" if of.later else "backbone": tower, "head": head}
    return block(
        llm=rebased(families.tree(s.part("text").replace(tied=s.tied)), "llm"),
        visual_tokenizer=Block(sight, repeats=0),
        vte=block("projector", weight=Tensor((of.words, s.hidden))),
    )


# configuration_aimv2.py of AIDC-AI/Ovis2-1B.
_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 24,
    "num_attention_heads": 8,
    "num_channels": 3,
    "image_size": 224,
    "patch_size": 14,
    "qkv_bias": False,
    "use_bias": False,
}


def aimv2_spec(c: Config) -> Spec[FusedAimv2]:
    """AIMv2's vision tower as it was released, as Ovis 2 and AndesVL have it (arXiv:2411.14402)."""
    rotary = c.family == "andesvl_aimv2" and not c.bool("preserve_original_pe", default=False)
    c = c.assuming(_ABSENT)
    bias, patches = c.bool("use_bias"), keys.patches(c)
    sizes = FusedAimv2.read(c, use_bias=bias)
    ffn = Dense(width=c.int("intermediate_size"), bias=bias)
    rows = None if rotary else keys.squares(c)
    return keys.tower(c, ffn=ffn, indivisible="built", patches=patches, positions=rows).having(sizes)


# configuration_siglip2_navit.py of AIDC-AI/Ovis.
_NAVIT_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_channels": 3,
    "image_size": 512,
    "patch_size": 16,
    "hidden_stride": 2,
    "preserve_original_pe": True,
}


class Siglip2Navit(Sizes):
    flat: bool
    hidden_stride: int = size("m")


def navit_spec(c: Config) -> Spec[Siglip2Navit]:
    """Ovis 2.5's vision tower: SigLIP 2's for images of any size, with rotary positions too (arXiv:2508.11737)."""
    c = c.assuming(_NAVIT_ABSENT)
    count = c.int("num_patches", default=-1, minimum=-1)
    flat, patches = count > 0, keys.patches(c)
    if not count:
        raise c.error(
            "out-of-range", "num_patches is 0, but must be -1 or the number of places.", "num_patches", observed=0
        )
    rows = (count if flat else keys.squares(c)) if c.bool("preserve_original_pe") else None
    sizes = Siglip2Navit.read(c, flat=flat)
    return keys.tower(c, patches=patches, positions=rows).having(sizes)


def navit_blueprint(s: Spec[Siglip2Navit]) -> Block:
    d = s.hidden
    table = block(
        patch_embedding=patch_projection(s, bias=True) if s.own.flat else patch_convolution(s),
        position_embedding=None if s.positions is None else positions(s),
    )
    encoder = block(layers=stack(s.layers, lambda layer: clip_layer(d, layer)))
    return block(vision_model=block(embeddings=table, encoder=encoder, post_layernorm=layer_norm(d)))


_NAVIT_IGNORED = ("fullatt_block_indexes", "temporal_patch_size", "window_size")

PARTS = (
    families.Family(
        ("ovis_aimv2", "andesvl_aimv2"),
        aimv2_spec,
        fused_aimv2,
        ignored=(*_NAVIT_IGNORED, "disable_rope", "hidden_stride", "interpolate_pe_method", "max_pixels", "min_pixels"),
    ),
    families.Family(
        ("siglip2_navit",),
        navit_spec,
        navit_blueprint,
        ignored=(*_NAVIT_IGNORED, "use_rope"),
    ),
)
