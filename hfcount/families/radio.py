"""RADIO: a vision tower distilled from several, for images of any size (arXiv:2312.06709)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack, swiglu
from hfcount.parts.classic import fused_attention
from hfcount.parts.conversions import qkv
from hfcount.spec import Dense, Layer, Patches, Sizes, Spec
from hfcount.tree.dims import round_up
from hfcount.tree.nodes import Block, Linear, Tensor, block, buffer, obsolete

MODEL_TYPES = ("radio",)  # transformers 5.23: modeling_radio.py
IGNORED = ("image_size", "patch_dim", "video_patch_dim")
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
    gated: bool
    tokens: int
    frames: int
    norm_mean: int
    norm_std: int
    summaries: int


def spec(c: Config) -> Spec[Radio]:
    d, bias, side = c.int("hidden_size"), c.bool("qkv_bias", default=True), c.int("patch_size")
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True, indivisible="run", own_width=True)
    wide, gated = c.times("mlp_ratio", d), c.bool("use_swiglu_ffn", default=False)
    ffn = Dense(width=round_up(2 * wide // 3, 8) if gated else wide, bias=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=ffn), keys.layer_count(c))
    along = c.int("max_img_size") // side
    null = c.is_null("video_temporal_patch_size")
    own = Radio.read(
        c,
        gated=gated,
        tokens=c.int("num_cls_tokens", minimum=0) + c.int("num_registers", minimum=0),
        frames=0 if null else keys.dim("P_t", c.int("video_temporal_patch_size")),
        norm_mean=_COLOURS if c.is_null("norm_mean") or not c.has("norm_mean") else len(c.entries("norm_mean")),
        norm_std=_COLOURS if c.is_null("norm_std") or not c.has("norm_std") else len(c.entries("norm_std")),
        summaries=_SUMMARIES if c.is_null("summary_idxs") else len(c.entries("summary_idxs")),
    )
    colours = Patches(side=side, channels=c.int("num_channels"))
    return keys.encoding(c, layers, hidden=d, positions=along * along, patches=colours).having(own)


_COLOURS, _SUMMARIES = 3, 2  # where the config lists none


def blueprint(s: Spec[Radio]) -> Block:
    d, of = s.hidden, s.own
    scale = block("other", lambda1=Tensor((d,), presence="dispensable"))  # the first checkpoints have none

    def layer(one: Layer) -> Block:
        wide = one.dense.width
        return block(
            norm1=layer_norm(d),
            attn=fused_attention(d, one.attention, "qkv", "proj"),
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
    model = block(patch_generator=table, blocks=stack(s.layers, layer))
    chosen = Tensor((of.summaries,), "buffer", "dispensable", whole=True)  # what the config says
    whole = block(model=model, input_conditioner=colours, summary_idxs=chosen)
    return block(radio_model=whole)
