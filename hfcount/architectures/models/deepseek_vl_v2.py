"""DeepSeek-VL2: SigLIP's tower, whose places are joined by fours, before DeepSeek-V2 (arXiv:2412.10302)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    decoder,
    gqa,
    layer_norm,
    mla,
    mlp,
    network,
    pre_norm,
    shared_moe,
    stack,
)
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import MLA, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# modeling_deepseek_vl_v2.py of deepseek-ai/DeepSeek-VL2, modeling_deepseek.py of deepseek-ai/DeepSeek-VL2,
# siglip_vit.py of deepseek-ai/DeepSeek-VL2
MODEL_TYPES = ("deepseek_vl_v2",)
IGNORED = ("candidate_resolutions",)

_PROJECTORS = ("linear", "mlp_gelu", "downsample_mlp_gelu")


class DeepseekVlV2(Sizes):
    seen: int
    out: int
    joined: int
    widened: int
    depth: int
    single: bool
    token_pooling: bool


def spec(c: Config) -> Spec[DeepseekVlV2]:
    heads = keys.named(VLV2ForCausalLM="causal_lm")
    keys.head_of(c, heads)  # other classes have this type, too, and other keys
    text = families.part(c, "language_config", "deepseek_vl_v2_text")
    vision = families.part(c, "vision_config", "deepseek_vl_v2_vision")
    projector, tag = c.part("projector_config"), c.str("tile_tag", default="tile_tag")
    kind = projector.str("projector_type", default="downsample_mlp_gelu")
    if kind not in _PROJECTORS:
        raise projector.error(
            "not-described", "projector_type names a projector that is not described.", "projector_type", observed=kind
        )
    if tag != "2D":
        raise c.error(
            "not-described", "tile_tag is not 2D, for which alone the model has weights.", "tile_tag", observed=tag
        )
    side = projector.int("downsample_ratio", default=2)
    sizes = DeepseekVlV2.read(
        c,
        seen=keys.dim("d_p", projector.int("input_dim", default=1152)),
        out=keys.dim("d_o", projector.int("n_embed", default=2048)),
        joined=side * side if kind == _PROJECTORS[2] else 1,
        widened=projector.int("mlp_ratio", default=1) if kind == _PROJECTORS[2] else 1,
        depth=max(projector.int("depth", default=2, maximum=MAX_LAYERS), 2 if kind == _PROJECTORS[2] else 1),
        single=kind == "linear",
        token_pooling=projector.bool("token_pooling", default=False),
    )
    return keys.composite(c, text, {"vision": vision}, key="language_config", heads=heads).having(sizes)


def blueprint(s: Spec[DeepseekVlV2]) -> Block:
    of = s.own
    vision_width, out, last = of.seen, of.out, 2 * (int(of.depth) - 1)
    first, wide = of.joined * vision_width, of.widened * out

    def linear(places: range, inputs: int, outputs: int) -> Repeat:  # an activation follows each but the last
        return Repeat(Indices.of(places), Linear(inputs, outputs, True))

    ends = linear(range(1), first, wide if last else out), linear(range(last, last + 1), wide, out)
    chain = (ends[0], linear(range(2, last, 2), wide, wide), ends[1]) if last > 2 else ends[: 1 + bool(last)]
    layers = Linear(first, out, True) if of.single else chain
    pooling = Linear(4 * vision_width, vision_width, True) if of.token_pooling else None
    return block(
        language=rebased(families.tree(s.part("text")), "language"),
        vision=families.tower(s, "vision"),
        projector=block("projector", layers=layers, token_pooling_layer=pooling),
        image_newline=Tensor((out,), component="projector"),
        view_seperator=Tensor((out,), component="projector"),
    )


# configuration_deepseek.py of deepseek-ai/DeepSeek-VL2; transformers means others by absent keys.
_ABSENT = {
    "vocab_size": 102400,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "moe_intermediate_size": 1407,
    "num_hidden_layers": 30,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "n_shared_experts": None,
    "n_routed_experts": None,
    "num_experts_per_tok": None,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "qk_nope_head_dim": 128,
    "first_k_dense_replace": 0,
}


class DeepseekVlV2Text(Sizes):
    balanced: bool


def text_spec(c: Config) -> Spec[DeepseekVlV2Text]:
    """DeepSeek-VL2's and DeepSeek-OCR's language model: DeepSeek-V2, also with plain attention (arXiv:2412.10302)."""
    c = c.assuming(_ABSENT)
    bias = c.bool("attention_bias", default=False)
    mixer = keys.mla(c) if c.bool("use_mla", default=True) else keys.attention(c, bias=bias, indivisible="refused")
    places = keys.dense_and_stepped(c)
    if c.is_null("n_routed_experts"):
        places = Indices.below(keys.layer_count(c)), Indices.below(0)
    sizes = DeepseekVlV2Text.read(c, balanced=c.str("topk_method", default="greedy") == "noaux_tc")
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c), mixer)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(sizes)


def text_blueprint(s: Spec[DeepseekVlV2Text]) -> Block:
    d, balanced = s.hidden, s.own.balanced

    def layer_block(layer: Layer) -> Block:
        attention = mla(d, layer.latent) if isinstance(layer.mixer, MLA) else gqa(d, layer.attention)
        return pre_norm(d, self_attn=attention, mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=balanced)))

    return decoder(s, layer_block)


# modeling_deepseek_vl_v2.py of deepseek-ai/DeepSeek-VL2.
_VISION_ABSENT = {"width": 1024, "layers": 24, "heads": 16, "image_size": 384, "patch_size": 16, "mlp_ratio": 4}


class DeepseekVlV2Vision(Sizes):
    pooled: bool
    averaged: bool
    class_token: bool


def vision_spec(c: Config) -> Spec[DeepseekVlV2Vision]:
    """DeepSeek-VL2's vision tower: SigLIP's as timm names it (arXiv:2412.10302, arXiv:2303.15343)."""
    c = c.assuming(_VISION_ABSENT)
    d, first = c.int("width"), c.bool("class_token", default=False)
    pooled = c.str("global_pool", default="map")
    if pooled not in ("", "map", "token", "avg") or (pooled == "token" and not first):
        raise c.error(
            "unknown-kind", "global_pool names no way to pool that the tower has.", "global_pool", observed=pooled
        )
    sizes = DeepseekVlV2Vision.read(c, pooled=pooled == "map", averaged=pooled == "avg", class_token=first)
    ffn = Dense(width=c.times("mlp_ratio", d), bias=True)
    rows = keys.squares(c) + first
    patches = keys.patches(c, "in_chans")
    return keys.tower(
        c, hidden=d, ffn=ffn, heads=("heads",), depth=("layers",), patches=patches, positions=rows
    ).having(sizes)


def vision_blueprint(s: Spec[DeepseekVlV2Vision]) -> Block:
    d, width, of = s.hidden, s.layers[0].layer.dense.width, s.own

    def layer_block(layer: Layer) -> Block:
        return block(norm1=layer_norm(d), attn=fused_square_attention(d), norm2=layer_norm(d), mlp=mlp(d, width))

    square, token = Linear(d, d, True), Tensor((1, 1, d))
    pool = block("attention", latent=token, q=square, kv=Linear(d, 2 * d, True), proj=square)
    return block(
        patch_embed=block(proj=patch_convolution(s)),
        cls_token=token if of.class_token else None,
        pos_embed=Tensor((1, s.positions or 0, d), component="embedding"),
        blocks=stack(s.layers, layer_block),
        norm=None if of.averaged else layer_norm(d),
        fc_norm=layer_norm(d) if of.averaged else None,
        attn_pool=Block({**pool.children, "norm": layer_norm(d), "mlp": mlp(d, width)}) if of.pooled else None,
    )


PARTS = (
    families.Family(("deepseek_vl_v2_text",), text_spec, text_blueprint, ignored=("lm_head", "rm_head")),
    families.Family(
        ("deepseek_vl_v2_vision",), vision_spec, vision_blueprint, ignored=("ignore_head", "num_recomputing_layers")
    ),
)
