"""MiMo-V2: full and sliding attention with different heads in one projection each, towers for images and for sound."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    base,
    gqa,
    lm_head,
    network,
    pre_norm,
    rms_norm,
    shared_moe,
    stack,
    swiglu,
)
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block
from hfcount.text import shown

# mimo_v2.py of Blaizzy/mlx-vlm 0.7.10, and its vision.py and audio.py; mimo_v2_nextn.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("mimo_v2",)
CLASSES = ("MiMoV2ForCausalLM",)
PREDICTORS = ("MiMoV2MTPModel", "MiMoV2MTP")
IGNORED = (
    "attention_projection_layout",
    "attention_value_scale",
    "layernorm_epsilon",
    "swa_rope_theta",
)
SPELLINGS = {r"\.pre_mlp_layernorm\.": ".post_attention_layernorm."}


def spec(c: Config) -> Spec:
    bias, count = c.bool("attention_bias", default=False), keys.layer_count(c)
    sinks = c.bool("add_full_attention_sink_bias", default=False)
    full = keys.attention(c, qkv_bias=bias, alone=True)
    value = c.int("v_head_dim", default=full.head_dim)
    full = full.replace(sinks=sinks, value_dim=value)
    width = c.int("swa_head_dim", default=full.head_dim)
    near = full.replace(
        heads=c.int("swa_num_attention_heads", default=full.heads),
        kv_heads=c.int("swa_num_key_value_heads", default=full.kv_heads),
        head_dim=width,
        value_dim=c.int("swa_v_head_dim", default=width),
        sinks=c.bool("add_swa_attention_sink_bias", default=False),
    )
    shared = ("n_shared_experts",) if c.given("n_shared_experts") else ()

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts",), shared=shared)

    places = [Indices.below(count), Indices.below(0)]
    if kinds := c.ints("hybrid_layer_pattern"):
        places = keys.listing(c, "hybrid_layer_pattern", kinds, 0, 1)
    few, many = Indices.below(count), Indices.below(0)
    if routed := c.ints("moe_layer_freq"):
        few, many = keys.listing(c, "moe_layer_freq", routed, 0, 1)
    mixers = keys.split((places[0], lambda: Layer(mixer=full)), (places[1], lambda: Layer(mixer=near)))
    layers = keys.combined(mixers, keys.networks(c, (few, many), experts))
    window = keys.extent(c, "sliding_window_size") or keys.extent(c, "sliding_window")
    ahead = Layer(mixer=near, ffn=keys.dense(c), mtp=True)
    parts = keys.drafts(c, "num_nextn_predict_layers", ahead)
    for name in ("vision", "audio"):
        if c.sub(f"{name}_config"):
            parts[name] = families.part(c, f"{name}_config", f"mimo_v2_{name}")
    windows = keys.within(places[1], window) if window else ()
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), windows=windows, parts=parts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=_attention(d, layer.attention),
            mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True)),
        )

    def further(layer: Layer) -> Block:
        ahead = block(enorm=rms_norm(d), hnorm=rms_norm(d), eh_proj=Linear(2 * d, d))
        return Block({**ahead.children, **layer_block(layer).children, "final_layernorm": rms_norm(d)}, "mtp")

    mtp = stack(s.stack("mtp"), further)
    body = altered(base(s.without("mtp"), layer_block), mtp=block("mtp", layers=mtp) if mtp else None)
    if s.head == "base":
        return body
    towers: dict[str, Node | None] = {}
    if "vision" in s.parts:
        towers["visual"] = families.tower(s, "vision")
    if "audio" in s.parts:
        towers |= {name: as_tower(node, "audio") for name, node in families.tree(s.parts["audio"]).children.items()}
    return block(model=body, lm_head=lm_head(s, "model.embed_tokens.weight"), **towers)


def _attention(d: int, a: GQA) -> Block:
    values = a.value_dim or a.head_dim
    inner = a.heads * a.head_dim + a.kv_heads * a.head_dim + a.kv_heads * values
    return block(
        "attention",
        qkv_proj=Linear(d, inner, a.qkv_bias),
        o_proj=Linear(a.heads * values, d),
        attention_sink_bias=Tensor((a.heads,)) if a.sinks else None,
    )


class MimoV2Vision(Sizes):
    """Sizes specific to the vision tower: patches merged along a side, and the width of its output."""

    spatial_merge_size: int = size("s_m", absent=2)


def vision_spec(c: Config) -> Spec[MimoV2Vision]:
    """MiMo-V2's vision tower: grouped-query attention with windows and sinks in all but a few layers."""
    heads, kv_heads = c.int("num_heads"), c.int("num_key_value_heads")
    keys.grouped(c, heads, kv_heads)
    count = c.int("depth", maximum=MAX_LAYERS)
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=c.int("qk_channels"), qkv_bias=True, out_bias=True)
    sinks, every = c.bool("use_sink", default=False), Indices.below(count)
    full = keys.among(c, "fullatt_block_indexes", c.ints("fullatt_block_indexes"), count)
    ffn = keys.dense(c, bias=True)
    layers = keys.split(
        (full, lambda: Layer(mixer=mixer, ffn=ffn)),
        (every.difference(full), lambda: Layer(mixer=mixer.replace(sinks=sinks), ffn=ffn)),
    )
    patches = keys.patches(c, "in_channels", "in_chans", frames=c.int("temporal_patch_size", default=2))
    out = c.int("out_hidden_size")
    model = keys.encoding(c, layers, hidden=c.int("hidden_size"), patches=patches, out=out)
    return model.having(MimoV2Vision.read(c))


def vision_blueprint(s: Spec[MimoV2Vision]) -> Block:
    d, side = s.hidden, s.own.spatial_merge_size

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        attention = block(
            "attention",
            qkv=Linear(d, (a.heads + 2 * a.kv_heads) * a.head_dim, True),
            proj=Linear(a.heads * a.head_dim, d, True),
            sinks=Tensor((a.heads,)) if a.sinks else None,
        )
        return block(norm1=rms_norm(d), norm2=rms_norm(d), attn=attention, mlp=swiglu(d, layer.dense.width, True))

    merged = d * side * side
    merger = Block({"0": Linear(merged, merged), "2": Linear(merged, s.output)})
    return block(
        patch_embed=block(proj=patch_convolution(s, bias=False)),
        blocks=stack(s.layers, layer_block),
        merger=block("projector", ln_q=rms_norm(d), mlp=merger),
    )


class MimoV2Audio(Sizes):
    """Sizes specific to hears: tables of codes, how many frames are projected at once, and by how many layers."""

    speech_vocab_size: int
    audio_channels: int = size("n_c", absent=8)
    group_size: int = size("n_g", absent=4)
    projection_layers: int = size(absent=1, maximum=2)
    add_post_norm: bool = flag(absent=False)


def _rows(c: Config) -> int:
    """The number of codes in each table, which releases write as text."""
    key = "speech_vocab_size"
    if c.is_int(key):
        return c.int(key)
    text = c.str(key)
    if not re.fullmatch("[1-9][0-9]{0,9}", text):
        raise c.error("unknown-kind", f"{key} is {shown(text)}, but must be a whole number.", key, observed=text)
    return int(text)


def audio_spec(c: Config) -> Spec[MimoV2Audio]:
    """MiMo-V2's audio tower: tables of codes of sound, and layers like Qwen2's over few frames at once."""
    d, heads = c.int("input_local_dim", default=1024), c.int("input_local_attn_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=True, out_bias=False)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("input_local_intermediate_size")))
    layers = [Layers(indices=Indices.below(c.int("input_local_layers", maximum=MAX_LAYERS)), layer=layer)]
    sizes = MimoV2Audio.read(c, speech_vocab_size=keys.dim("|V_s|", _rows(c)))
    return keys.encoding(c, layers, hidden=d, out=c.int("out_hidden_size")).having(sizes)


def audio_blueprint(s: Spec[MimoV2Audio]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    wide = d * of.group_size
    twice = block(mlp=Block({"0": Linear(wide, 4 * wide), "2": Linear(4 * wide, s.output)}))
    local = block(layers=stack(s.layers, layer_block), norm=rms_norm(d) if of.add_post_norm else None)
    return block(
        speech_embeddings=Repeat(Indices.below(of.audio_channels), block(weight=Tensor((of.speech_vocab_size, d)))),
        audio_encoder=block(
            input_local_transformer=local,
            projection=Linear(wide, s.output) if of.projection_layers == 1 else twice,
        ),
    )


PARTS = (
    families.Family(
        ("mimo_v2_vision",),
        vision_spec,
        vision_blueprint,
        ignored=tuple(
            "num_query_groups spatial_patch_size tokens_per_second visual_token_window_size vit_window_attn_types"
            " window_size".split()
        ),
    ),
    families.Family(
        ("mimo_v2_audio",),
        audio_spec,
        audio_blueprint,
        ignored=tuple(
            "audio_segment_size input_full_attention input_local_head_dim input_local_hidden_dropout"
            " speech_zeroemb_idx tokenizer_version".split()
        ),
    ),
)
