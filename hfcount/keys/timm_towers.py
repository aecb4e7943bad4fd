"""Models of timm by the names that settle how they are built, and the arguments that a config gives besides.

Source: timm 1.0, models/eva.py, models/fastvit.py.
"""

from collections.abc import Mapping

from hfcount.errors import UnknownArchitecture
from hfcount.keys.attention import multi_head
from hfcount.keys.layers import alike
from hfcount.keys.model import Fields
from hfcount.keys.sizes import sized
from hfcount.keys.towers import COARSER, sides
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Dense, Layer, Layers, Patches
from hfcount.text import printable
from hfcount.tree.indices import Indices

PERCEPTION_ENCODERS: Mapping[str, tuple[int, int, int]] = {
    "vit_pe_core_tiny_patch16_384": (192, 3, 12),
    "vit_pe_core_small_patch16_384": (384, 6, 12),
    "vit_pe_core_base_patch16_224": (768, 12, 12),
    "vit_pe_core_large_patch14_336": (1024, 16, 24),
    "vit_pe_core_gigantic_patch14_448": (1536, 16, 50),
    "vit_pe_lang_large_patch14_448": (1024, 16, 23),
    "vit_pe_lang_gigantic_patch14_448": (1536, 16, 47),
    "vit_pe_spatial_tiny_patch16_512": (192, 3, 12),
    "vit_pe_spatial_small_patch16_512": (384, 6, 12),
    "vit_pe_spatial_base_patch16_512": (768, 12, 12),
    "vit_pe_spatial_large_patch14_448": (1024, 16, 24),
    "vit_pe_spatial_gigantic_patch14_448": (1536, 16, 50),
}
"""The width, heads and layers of Perception Encoders; their names end in the side of a patch and of an image."""

_GIGANTIC = 8960 / 1536  # how much wider than the model its networks are
_BUILDS = frozenset(
    """
    img_size patch_size in_chans global_pool embed_dim depth num_heads mlp_ratio qkv_bias init_values class_token
    num_reg_tokens no_embed_class use_abs_pos_emb use_pre_transformer_norm use_post_transformer_norm use_fc_norm
    attn_pool_num_heads attn_pool_mlp_ratio
    """.split()
)
_SHAPELESS = frozenset(
    """
    pos_drop_rate patch_drop_rate attn_drop_rate rope_grid_offset
    rope_grid_indexing rope_temperature rope_rotate_half ref_feat_shape dynamic_img_size dynamic_img_pad head_init_scale
    """.split()
)
_DROPPED = frozenset({"drop_rate", "proj_drop_rate", "drop_path_rate"})

FAST_VITS: Mapping[str, tuple[tuple[int, ...], int, int, int]] = {
    "fastvit_t8": ((2, 2, 4, 2), 48, 3, 0),
    "fastvit_t12": ((2, 2, 6, 2), 64, 3, 0),
    "fastvit_s12": ((2, 2, 6, 2), 64, 4, 0),
    "fastvit_sa12": ((2, 2, 6, 2), 64, 4, 1),
    "fastvit_sa24": ((4, 4, 12, 4), 64, 4, 1),
    "fastvit_sa36": ((6, 6, 18, 6), 64, 4, 1),
    "fastvit_ma36": ((6, 6, 18, 6), 76, 4, 1),
    "fastvit_mci0": ((2, 6, 10, 2), 64, 3, 1),
    "fastvit_mci1": ((4, 12, 20, 4), 64, 3, 1),
    "fastvit_mci2": ((4, 12, 24, 4), 80, 3, 1),
    "fastvit_mci3": ((2, 12, 24, 4, 2), 96, 4, 2),
    "fastvit_mci4": ((2, 12, 24, 4, 4), 128, 4, 2),
}
"""The layers of each stage of a FastViT, the width of the first, which doubles from stage to stage, how much wider the
networks are, and in how many of the last stages layers attend."""

_HEAD_DIM, _FINAL, _COLOURS = 32, 2, 3


def perception_encoder(c: Config, name: str) -> tuple[list[Layers], Fields]:
    """The layers of a Perception Encoder (arXiv:2504.13181), and the further fields of its Spec.

    Raises:
        UnknownArchitecture: model_args name what is not described.
        ConfigError: they contradict themselves.
    """
    width, heads, depth = PERCEPTION_ENCODERS[name]
    args = _arguments(c, name, _BUILDS, _SHAPELESS | _DROPPED)
    core, gigantic = "_core_" in name, "_gigantic_" in name
    *_, patch, image = name.split("_")
    d, usual = args.int("embed_dim", default=width), int(patch.removeprefix("patch"))
    side, across = sides(args, "patch_size") if args.given("patch_size") else (sized("P", usual), usual)
    if side != across:
        raise UnknownArchitecture(f"{args.where}: oblong patches, as patch_size has them, are not described.")
    wide = args.times("mlp_ratio", d, default=_GIGANTIC if gigantic else 4)
    pool = "map" if core else "avg"
    pool = args.str("global_pool", default=pool)
    if pool not in ("", "avg", "avgmax", "max", "token", "map"):
        raise args.error(f"global_pool is {printable(pool, 40)}, which is no way to pool.", "global_pool")
    first = _switch(args, "class_token", not gigantic)
    if pool == "token" and not first:
        raise args.error("global_pool is token, and class_token is false.", "global_pool", "Correct one of them.")
    more = args.int("num_reg_tokens", default=0, minimum=0)
    shape = sides(args, "img_size") if args.given("img_size") else (int(image), int(image))
    if min(shape) < side:
        args.cannot_run(f"patch_size {side:,} exceeds img_size {min(shape):,}, so there is no patch.", "img_size")
    fine = _switch(args, "use_fc_norm", core and pool == "avg")
    traits: dict[str, int] = {
        "perception": 1,
        "class_token": first,
        "num_reg_tokens": more,
        "norm_pre": _switch(args, "use_pre_transformer_norm", True),
        "norm": _switch(args, "use_post_transformer_norm", core and not fine),
        "fc_norm": fine,
        "gammas": args.number("init_values", default=0.1 if name in _SCALED else None, zero=True) is not None,
        "qkv_bias": _switch(args, "qkv_bias", True),
    }
    heads = args.int("num_heads", default=heads)
    if pool == "map":
        few = args.int("attn_pool_num_heads", default=8 if core else heads, minimum=0) or heads
        multi_head(args, d, few)  # which must share the width, too
        own = args.number("attn_pool_mlp_ratio", default=4 if core else 0, zero=True)
        pooled = args.times("attn_pool_mlp_ratio", d, default=4) if own else wide
        traits["pooled"] = sized("d_pf", pooled)
    mixer = multi_head(args, d, heads, qkv_bias=bool(traits["qkv_bias"]))
    ffn = Dense(width=wide, bias=True)
    layers = alike(Layer(mixer=mixer, ffn=ffn), args.int("depth", default=depth, maximum=MAX_LAYERS))
    places = shape[0] // side * (shape[1] // side)
    places += 0 if _switch(args, "no_embed_class", False) else more + first
    positions = places if _switch(args, "use_abs_pos_emb", True) else None
    patches = Patches(side=side, channels=args.int("in_chans", default=_COLOURS))
    return layers, {"hidden": d, "positions": positions, "patches": patches, "traits": traits}


_SCALED = tuple(f"vit_pe_{one}_patch14_448" for one in ("lang_large", "lang_gigantic", "spatial_gigantic"))


def fast_vit(c: Config, name: str) -> tuple[list[Layers], Fields]:
    """The stages of a FastViT (arXiv:2303.14189), and the further fields of its Spec.

    Raises:
        UnknownArchitecture: model_args name what is not described.
    """
    depths, width, ratio, attending = FAST_VITS[name]
    args = _arguments(c, name, {"inference_mode", "in_chans"}, {"global_pool", *_DROPPED})
    layers = []
    for number, depth in enumerate(depths):
        d = sized(f"d{number + 1}", width * 2**number)
        heads = int(d) // _HEAD_DIM
        mixer = GQA(heads=heads, kv_heads=heads, head_dim=_HEAD_DIM, out_bias=True)
        attends = number >= len(depths) - attending
        ffn = Dense(width=ratio * d, bias=True)
        one = Layer(mixer=mixer if attends else None, ffn=ffn, stage_width=d)
        layers.append(Layers(indices=Indices.below(depth), layer=one))
    early, squeezing = name not in ("fastvit_mci3", "fastvit_mci4"), ("fastvit_mci0", "fastvit_mci1", "fastvit_mci2")
    traits: dict[str, int] = {
        "fast": 1,
        "inference_mode": _switch(args, "inference_mode", False),
        "in_chans": sized("C", args.int("in_chans", default=_COLOURS)),
        "batch_normed": early,  # and what follows from that is true of the stem, too
        "squeezing": name in squeezing,
    }
    fields: Fields = {"hidden": _FINAL * layers[-1].layer.width, "traits": traits, "uncounted": COARSER}
    return layers, fields


def _arguments(c: Config, name: str, builds: frozenset[str] | set[str], shapeless: frozenset[str] | set[str]) -> Config:
    """The model_args of a config; `builds` and `shapeless` are those that are understood."""
    for key in c.object("model_args") or {}:
        if key == "num_classes":
            raise c.error("model_args must not give num_classes, which the class gives itself.", "model_args")
        if key not in builds and key not in shapeless:
            said = f"{name} with {printable(key, 40)} in model_args is not described, but with"
            raise UnknownArchitecture(f"{c.where}: {said} {', '.join(sorted(builds))}.")
    args = c.part("model_args")
    args.ignored = shapeless
    return args


def _switch(args: Config, name: str, default: bool) -> bool:
    """A switch; timm drops an argument that is null."""
    return args.bool(name) if args.given(name) else default
