"""OpenCLIP: a vision and a text tower of its own that end in a common width, also with a decoder, as CoCa."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.clip_huggingface import HuggingText, check_activation
from hfcount.architectures.components.clip_resnet import ClipResNet
from hfcount.architectures.components.clip_timm import TimmTower
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import GQA, Dense, Head, Layer, Layers, Patches, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, Undescribed, block
from hfcount.text import printable

MODEL_TYPES = ("open_clip",)  # model.py of mlfoundations/open_clip, 3.3.0; transformer.py, coca_model.py beside it
IGNORED = (
    "act_kwargs", "eos_id", "final_ln_after_pool", "hf_model_pretrained", "hf_tokenizer_name", "init_logit_bias",
    "init_logit_scale", "no_causal_mask", "norm_kwargs", "output_tokens", "pad_id", "patch_dropout", "quick_gelu",
    "timm_drop", "timm_drop_path", "timm_model_pretrained", "timm_pool", "timm_proj", "timm_proj_bias",
    "tokenizer_kwargs", "tokenizer_mode",
)  # fmt: skip
SPELLINGS = {r"^module\.": ""}
HEADED = {"contrastive": {r"^(text_projection|positional_embedding|token_embedding|transformer|ln_final)": r"text.\1"}}

_LAYERS = {"mlp_ratio": 4.0}
_VISION = {"width": 768, "layers": 12, "head_width": 64, "patch_size": 16, "image_size": 224, **_LAYERS}
_TEXT = {"width": 512, "layers": 12, "heads": 8, "context_length": 77, "vocab_size": 49408, **_LAYERS}
_ADDED = ("qk_norm", "scaled_cosine_attn", "scale_heads", "scale_attn_inner", "scale_attn", "scale_fc")
_TWO = ("parallel", "cascade")  # ways of pooling by two sets of queries


class ClipLayer(Record):
    """Whether the branches of a layer are scaled, and by their keys the norms and scales that it has besides."""

    scaled: bool
    added: tuple[str, ...]


class Pooling(Sizes):
    """Attention that pools an image by queries of its own; `two` says whether one more query stands beside them."""

    two: bool
    attn_pooler_queries: int = size("n_q", absent=256)


class ClipVit(Sizes):
    pooling: Pooling | None
    kernel: tuple[int, int]
    no_ln_pre: bool = flag(absent=False)


class ClipText(Sizes):
    proj_type: str
    embed_cls: bool = flag(absent=False)
    proj_bias: bool = flag(absent=False)


class OpenClip(Sizes):
    custom_text: bool
    init_logit_bias: bool
    unknown: tuple[tuple[str, str], ...]
    nonscalar_logit_scale: bool = flag(absent=False)


def spec(c: Config) -> Spec[OpenClip]:
    out, vision, text = c.int("embed_dim"), c.part("vision_cfg"), c.part("text_cfg")
    custom = c.bool("custom_text", default=False) or text.has("hf_model_name")
    check_activation(c, vision, text)
    unknown, parts = dict[str, str](), dict[str, Spec]()
    if vision.given("timm_model_name"):
        vision.assuming(_VISION).ints("image_size", alone=True)  # which timm is not told
        try:
            parts["vision"] = TimmTower.read(vision, out)
        except UnknownArchitecture as error:
            unknown["visual"] = f"a model of timm: {str(error).removeprefix(f'{vision.where}: ')}"
    elif isinstance(vision.value("layers"), list):
        parts["vision"] = ClipResNet.read(vision.assuming(_VISION))
    else:
        parts["vision"] = _vit(vision.assuming(_VISION), out)
    if text.given("hf_model_name"):
        named = printable(text.str("hf_model_name"), 60)
        if text.has("hf_config"):
            parts["text"] = HuggingText.read(text, out, families.part(text, "hf_config"))
        else:
            unknown["text"] = f"a model of transformers by the config of {named}, which is not here: --base gives it"
    else:
        parts["text"] = _text(text.assuming(_TEXT))
    if c.has("multimodal_cfg") and not custom:
        raise c.error("contradiction", "multimodal_cfg needs custom_text true.", "multimodal_cfg", "Set custom_text.")
    if c.has("multimodal_cfg"):
        parts["decoder"] = _decoder(c, text.assuming(_TEXT))
    sizes = OpenClip.read(
        c, custom_text=custom, init_logit_bias=c.given("init_logit_bias"), unknown=tuple(unknown.items())
    )
    head: Head = "contrastive" if custom else "base"
    words = parts.get("text")
    return Spec(
        family=c.family,
        vocab=words.vocab if words else 0,
        hidden=words.hidden if words else out,
        layers=words.layers if words else (),
        head=head,
        heads=(head,),
        causal=False,
        parts=parts,
        out=out,
    ).having(sizes)


def _layers(c: Config, d: int, heads: int, plain: bool = False) -> list[Layers]:
    """The layers of a tower; `plain` ones have nothing that the block of CLIP lacks, whatever the config says."""
    added = () if plain else tuple(key for key in _ADDED if c.bool(key, default=False))
    kind = None if plain else c.str("block_type", default=None)
    if kind not in (None, "custom"):
        added = ()
    if {"qk_norm", "scaled_cosine_attn"} <= {*added}:
        raise c.error("contradiction", "qk_norm and scaled_cosine_attn exclude each other.", "qk_norm")
    sizes = ClipLayer(scaled=c.given("ls_init_value"), added=added)
    ffn = Dense(width=4 * d if plain else c.times("mlp_ratio", d), bias=True)
    layer = Layer(mixer=keys.multi_head(c, d, heads), ffn=ffn, own=sizes)
    return keys.uniform(layer, c.int("layers", maximum=MAX_LAYERS))


def _vit(c: Config, out: int) -> Spec[ClipVit]:
    """A ViT by width, head_width and layers, which gives `out`."""
    c.choice("pool_type", ("tok", "avg", "none"), default="tok")
    c.choice("pos_embed_type", ("learnable", "sin_cos_2d"), default="learnable")
    d, head = c.int("width"), c.int("head_width")
    if head > d:
        raise c.error("not-divisible", f"head_width {head:,} is more than the width {d:,}.", "head_width")
    grid = [side // patch for side, patch in zip(keys.sides(c, "image_size"), keys.sides(c, "patch_size"), strict=True)]
    if c.value("pos_embed_type") == "sin_cos_2d" and grid[0] != grid[1]:
        text = f"pos_embed_type sin_cos_2d takes square images, and this has {grid[0]:,} by {grid[1]:,} patches."
        raise c.error("contradiction", text, "pos_embed_type")
    kernel = keys.sides(c, "patch_size")
    return Spec(
        family=c.family,
        hidden=d,
        layers=tuple(_layers(c, d, keys.derived_dim(c, "h", d // head, "{width} // {head_width}"))),
        causal=False,
        positions=keys.rectangle(c) + 1,
        patches=Patches(side=kernel[0], channels=3),
        out=out,
    ).having(ClipVit.read(c, pooling=_pooling(c, out), kernel=kernel))


def _pooling(c: Config, out: int) -> Pooling | None:
    """What attentional_pool says: nothing, one set of queries, or a way of two."""
    way = c.value("attentional_pool")
    two = isinstance(way, str) and bool(way) and c.choice("attentional_pool", _TWO) in _TWO
    if not (two or c.bool("attentional_pool", default=False)):
        return None
    keys.divides(c, "attn_pooler_heads", c.int("attn_pooler_heads", default=8), "embed_dim", out)
    return Pooling.read(c, two=two)


def _text(c: Config) -> Spec[ClipText]:
    """A text transformer by width, heads and layers, whose rows of positions may have one for a class."""
    c.choice("pool_type", ("first", "last", "argmax", "eos", "none"), default="argmax")
    d, sizes = c.int("width"), ClipText.read(c, proj_type=c.str("proj_type", default="linear"))
    return Spec(
        family=c.family,
        vocab=c.int("vocab_size"),
        hidden=d,
        layers=tuple(_layers(c, d, c.int("heads"))),
        causal=False,
        positions=c.int("context_length") + sizes.embed_cls,
    ).having(sizes)


def _decoder(c: Config, text: Config) -> Spec:
    """A decoder that attends to text and image in turn, and gives a logit for each word."""
    inner = c.part("multimodal_cfg").assuming(_TEXT)
    d, words = inner.int("width"), text.int("vocab_size")
    layers = _layers(inner, d, inner.int("heads"), plain=True)
    return Spec(family=c.family, hidden=d, layers=tuple(layers), causal=False, out=keys.dim("|V|", words))


def blueprint(s: Spec[OpenClip]) -> Block:
    sizes, unknown = s.own, {name: Undescribed(why) for name, why in s.own.unknown}
    scale = Tensor((1,) if sizes.nonscalar_logit_scale else (), component="other")
    children: dict[str, Node] = {"visual": unknown.get("visual") or _seen(s)}
    if sizes.custom_text:
        children["text"] = unknown.get("text") or _written(s)
    else:
        children |= _read(s, sizes.custom_text)
    if "decoder" in s.parts:
        children["text_decoder"] = _spoken(s.part("decoder"))
    return Block({**children, "logit_scale": scale, **({"logit_bias": scale} if sizes.init_logit_bias else {})})


def _block(d: int, layer: Layer, crossing: bool = False) -> Block:
    """A layer. Tensors: ln_1, attn, ln_2, mlp with c_fc and c_proj; `crossing`, ln_1_kv of what it attends to."""
    sizes, width, norm = layer.sizes(ClipLayer), layer.dense.width, layer_norm(d)
    scale = block(gamma=Tensor((d,))) if sizes.scaled else None
    return block(
        ln_1=norm,
        attn=_attention(d, layer.attention, sizes.added),
        ln_attn=norm if "scale_attn" in sizes.added else None,
        ls_1=scale,
        ln_1_kv=norm if crossing else None,
        ln_2=norm,
        mlp=block(
            "mlp",
            c_fc=Linear(d, width, True),
            ln=layer_norm(width) if "scale_fc" in sizes.added else None,
            c_proj=Linear(width, d, True),
        ),
        ls_2=scale,
    )


def _attention(d: int, a: GQA, added: tuple[str, ...] = ()) -> Block:
    """Attention with a fused projection. Tensors: in_proj_weight (3·d, d), in_proj_bias (3·d), out_proj (d, d)."""
    norm, each = layer_norm(a.head_dim), Tensor((a.heads, 1, 1))
    return block(
        "attention",
        in_proj_weight=Tensor((3 * d, d)),
        in_proj_bias=Tensor((3 * d,)),
        ln_q=norm if "qk_norm" in added else None,
        ln_k=norm if "qk_norm" in added else None,
        logit_scale=each if "scaled_cosine_attn" in added else None,
        head_scale=each if "scale_heads" in added else None,
        ln_inner=layer_norm(d) if "scale_attn_inner" in added else None,
        out_proj=Linear(d, d, True),
    )


def _seen(s: Spec) -> Block:
    """The vision tower: a ResNet, or a ViT with conv1, ln_pre, transformer.resblocks, ln_post and proj."""
    v = s.part("vision")
    if isinstance(v.own, ClipResNet):
        return Block(v.own.tensors(v, s.output), "vision", 0)
    if isinstance(v.own, TimmTower):
        return Block(v.own.tensors(s.output), "vision", 0)
    sizes, d = v.sizes(ClipVit), v.hidden
    wide = s.output if sizes.pooling else d
    return block(
        "vision",
        class_embedding=Tensor((d,)),
        positional_embedding=Tensor((v.positions or 0, d)),
        proj=Tensor((wide, s.output)),
        conv1=block(weight=Tensor((d, 3, *sizes.kernel))),
        ln_pre=None if sizes.no_ln_pre else layer_norm(d),
        transformer=block(resblocks=stack(v.layers, lambda layer: _block(d, layer))),
        attn_pool=_pooled(s.output, d, sizes.pooling.attn_pooler_queries) if sizes.pooling else None,
        attn_pool_contrastive=_pooled(s.output, d, 1) if sizes.pooling and sizes.pooling.two else None,
        ln_post=layer_norm(wide),
    ).replace(repeats=0)


def _pooled(out: int, d: int, queries: int) -> Block:
    """Pooling by queries. Tensors: query (n_q, d_o), attn, ln_q (d_o), ln_k (d)."""
    into = {"in_proj_weight": Tensor((3 * out, out))}
    if d != out:
        into = {f"{name}_proj_weight": Tensor((out, out if name == "q" else d)) for name in "qkv"}
    attention = Block({**into, "in_proj_bias": Tensor((3 * out,)), "out_proj": Linear(out, out, True)}, "attention")
    return block(query=Tensor((queries, out)), attn=attention, ln_q=layer_norm(out), ln_k=layer_norm(d))


def _read(s: Spec, custom: bool) -> dict[str, Node]:
    """The text tower: token_embedding, positional_embedding, transformer.resblocks, ln_final and text_projection."""
    t = s.part("text")
    sizes, d, out = t.sizes(ClipText), t.hidden, s.output
    projection: Node = Linear(d, out, True, "projector") if sizes.proj_bias else Tensor((d, out), component="projector")
    children = block(
        # Outside of a tower of its own, the class has no name.
        cls_emb=Tensor((d,), component="embedding") if sizes.embed_cls and custom else None,
        token_embedding=embedding(t.vocab, d),
        positional_embedding=Tensor((t.positions or 0, d), component="embedding"),
        transformer=block(resblocks=stack(t.layers, lambda layer: _block(d, layer))),
        ln_final=layer_norm(d),
        text_projection=None if sizes.proj_type == "none" else projection,
    )
    return dict(children.children)


def _written(s: Spec[OpenClip]) -> Block:
    """The text tower by itself: of its own kind, or a model of transformers."""
    t = s.part("text")
    if isinstance(t.own, HuggingText):
        return t.own.tensors(t, s.output, families.tree(t.part("words")))
    return Block(_read(s, True))


def _spoken(t: Spec) -> Block:
    """The decoder: resblocks, cross_attn, ln_final and text_projection (d, |V|)."""
    d, words = t.hidden, t.output
    return block(
        "other",
        resblocks=stack(t.layers, lambda layer: _block(d, layer)),
        cross_attn=stack(t.layers, lambda layer: _block(d, layer, crossing=True)),
        ln_final=layer_norm(d),
        text_projection=Tensor((d, words), component="lm_head"),
    )
