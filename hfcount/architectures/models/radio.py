"""RADIO: a vision tower distilled from several, for images of any size (arXiv:2312.06709)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack, swiglu
from hfcount.architectures.layers.classic import fused_attention
from hfcount.architectures.layers.conversions import qkv
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer, obsolete

# transformers 5.23: modeling_radio.py
# and, for the recipe of the first releases, hf_model.py of NVlabs/RADIO and radio.py of vllm-project/vllm 0.33
MODEL_TYPES = ("radio",)
IGNORED = ("image_size", "max_resolution", "patch_dim", "preferred_resolution", "video_patch_dim")
SPELLINGS = {
    r"radio_model\.model\.patch_generator\.video_embedder\.": "embeddings.video_patch_projection.",
    r"radio_model\.model\.patch_generator\.embedder\.": "embeddings.patch_projection.",
    r"radio_model\.model\.patch_generator\.pos_embed$": "embeddings.position_embedding",
    r"radio_model\.model\.patch_generator\.cls_token\.token$": "embeddings.cls_register_token",
    r"radio_model\.model\.blocks\.": "encoder.layer.",
    r"attn\.proj\.": "attention.o_proj.",
    r"radio_model\.(input_conditioner|summary_idxs)": r"\1",
}
MERGED = {f"attn.qkv.{end}": qkv("attention", end) for end in ("weight", "bias")}


class Radio(Sizes):
    """Sizes specific to RADIO; `scaled` if its layers have the scales that transformers gives them."""

    scaled: bool
    gated: bool
    tokens: int
    frames: int
    norm_mean: int
    norm_std: int
    summaries: int


def spec(c: Config) -> Spec[Radio]:
    if c.given("args"):
        return _trained(c)
    return _sized(c)


def _sized(c: Config, scaled: bool = True) -> Spec[Radio]:
    d, bias, side = c.int("hidden_size"), c.bool("qkv_bias", default=True), c.int("patch_size")
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True, indivisible="run", own_width=True)
    wide, gated = c.times("mlp_ratio", d), c.bool("use_swiglu_ffn", default=False)
    ffn = Dense(width=round_up(2 * wide // 3, 8) if gated else wide, bias=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(c))
    along = c.int("max_img_size") // side
    null = c.is_null("video_temporal_patch_size")
    sizes = Radio.read(
        c,
        scaled=scaled,
        gated=gated,
        tokens=c.int("num_cls_tokens", minimum=0) + c.int("num_registers", minimum=0),
        frames=0 if null else keys.dim("P_t", c.int("video_temporal_patch_size")),
        norm_mean=_COLOURS if c.is_null("norm_mean") or not c.has("norm_mean") else len(c.entries("norm_mean")),
        norm_std=_COLOURS if c.is_null("norm_std") or not c.has("norm_std") else len(c.entries("norm_std")),
        summaries=_SUMMARIES if c.is_null("summary_idxs") else len(c.entries("summary_idxs")),
    )
    colours = Patches(side=side, channels=c.int("num_channels"))
    return keys.encoding(c, layers, hidden=d, positions=along * along, patches=colours).having(sizes)


# By the names of timm, and of extra_timm_models.py beside hf_model.py: width, layers, heads, width of the networks.
_NAMED = {
    "vit_small_patch16_224": (384, 12, 6, 1536),
    "vit_base_patch16_224": (768, 12, 12, 3072),
    "vit_large_patch16_224": (1024, 24, 16, 4096),
    "vit_so400m_patch16_224": (1152, 27, 16, 4304),
    "vit_huge_patch16_224": (1280, 32, 16, 5120),
    "vit_giant_patch16_224": (1536, 40, 24, 6144),
}
_FURTHER = ("adaptor_names", "feature_normalizer_config", "inter_feature_normalizer_config")


def _trained(c: Config) -> Spec[Radio]:
    """The tower by the arguments that it was trained with: a name of timm, teachers, multiples of registers."""
    args = c.part("args")
    args.assuming(dict.fromkeys(args.names()))  # what is not asked for below told the training
    _check_plain(c, _FURTHER)
    _check_plain(args, ("model_norm", "model_kwargs"))
    name, side = args.choice("model", tuple(_NAMED)), c.int("patch_size", default=16)
    frames = c.int("video_temporal_patch_size", default=1)
    if frames > 1 and not c.bool("separate_video_embedder", default=True):
        text = "separate_video_embedder is false: one projection of images and videos is not described."
        raise c.error("not-described", text, "separate_video_embedder")
    if args.is_null("cpe_max_size"):
        text = "cpe_max_size is null: a tower for images of one size is not described."
        raise args.error("not-described", text, "cpe_max_size")
    width, depth, heads, wide = _NAMED[name]
    tokens, learned = _teachers(args)
    usual = {
        "hidden_size": width,
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "mlp_ratio": wide / width,
        "num_channels": _channels(args),
        "max_img_size": round(args.int("cpe_max_size", default=2048) / side) * int(side),
        "num_cls_tokens": tokens,
        "num_registers": 0,  # added below
        "summary_idxs": learned,
        "video_temporal_patch_size": None,
    }
    sided = args.part(name, defaults=usual).varied("", {"patch_size": int(side)}, c.source("patch_size"))
    tower = _sized(sided, scaled=False)
    sizes = tower.own.replace(tokens=tokens + _registers(args, tokens), frames=keys.dim("P_t", frames))
    return tower.having(sizes if frames > 1 else sizes.replace(frames=0))


def _check_plain(c: Config, names: tuple[str, ...]) -> None:
    for key in names:
        if c.value(key):
            raise c.error("not-described", f"{key} asks for parts that are not described.", key)


def _channels(args: Config) -> int:
    """The channels of an image: in_chans or, where that is null, the first of input_size."""
    sizes = args.ints("input_size")
    usual = sizes[0] if sizes else _COLOURS
    return int(args.int("in_chans", default=usual))


def _registers(args: Config, tokens: int) -> int:
    """Tokens that stand for nothing: their number, or as many as make all such tokens a multiple, at least one."""
    number = args.int("cpe_num_registers", default=None, minimum=0)
    multiple = args.int("register_multiple", default=None, minimum=0)
    return number or (multiple * (tokens // multiple + 1) - tokens if multiple else 0)


def _teachers(args: Config) -> tuple[int, list[int]]:
    """The number of tokens that stand for the whole image, and which of the teachers learned from such a token."""
    given = args.entries("teachers")
    names = [teacher.get("name") if isinstance(teacher, dict) else None for teacher in given]
    for place, name in enumerate(names):
        if not isinstance(name, str):
            raise args.malformed(f"teachers[{place}] is no object with a name.", "teachers")
    each = args.bool("cls_token_per_teacher", default=False)
    learned = [place for place, teacher in enumerate(given) if teacher.get("use_summary", True)]
    return len({*names}) if each else 1, learned


_COLOURS, _SUMMARIES = 3, 2  # where the config lists none


def blueprint(s: Spec[Radio]) -> Block:
    d, of = s.hidden, s.own
    lambda1 = Tensor((d,), presence="dispensable")  # the first checkpoints have none
    scale = block("other", lambda1=lambda1) if of.scaled else None

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        return block(
            norm1=layer_norm(d),
            attn=fused_attention(d, layer.attention, "qkv", "proj"),
            layer_scale1=scale,
            norm2=layer_norm(d),
            mlp=swiglu(d, wide, True) if of.gated else mlp(d, wide),
            layer_scale2=scale,
        )

    frames = Linear(of.frames * s.seen.pixels, d, component="embedding")
    table = block(
        "embedding",
        cls_token=block(token=Tensor((of.tokens, d))),
        embedder=Linear(s.seen.pixels, d),
        video_embedder=frames if of.frames else None,
        pos_embed=Tensor((1, s.positions or 0, d)),
    )
    held = obsolete if s.adapted else buffer  # a model around it may norm the colours itself
    colours = block(norm_mean=held(of.norm_mean, 1, 1), norm_std=held(of.norm_std, 1, 1))
    model = block(patch_generator=table, blocks=stack(s.layers, layer_block))
    chosen = Tensor((of.summaries,), "buffer", "dispensable", whole=True)  # what the config says
    body = block(model=model, input_conditioner=colours, summary_idxs=chosen)
    return block(radio_model=body)
