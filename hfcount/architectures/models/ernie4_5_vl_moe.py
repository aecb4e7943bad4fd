"""ERNIE 4.5 VL: patches merged in space and in time before a language model with experts (ERNIE 4.5 report)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    base,
    experts,
    gqa,
    layer_norm,
    mlp,
    network,
    pre_norm,
    rms_norm,
    stack,
    stacked,
    swiglu,
    with_head,
)
from hfcount.architectures.layers.vision import fused_square_attention, patch_projection
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("ernie4_5_vl_moe",)  # transformers 5.23: modeling_ernie4_5_vl_moe.py
SPELLINGS = {
    r"vision_model\.": "vision_tower.",
    r"(spatial|temporal)_linear\.0\.": r"\1_linear.fc1.",
    r"(spatial|temporal)_linear\.2\.": r"\1_linear.fc2.",
    r"(spatial|temporal)_linear\.3\.": r"\1_linear.ln.",
    r"(?<!language_model\.)(?=(embed_tokens|layers)\.)": "language_model.",
    r"(?<!_)(?<!\w)(?<!language_model\.)norm\.": "language_model.norm.",
}


class Ernie45VlMoe(Sizes):
    temporal_merge_size: int


def spec(c: Config) -> Spec[Ernie45VlMoe]:
    times = keys.dim("m_t", c.part("vision_config").int("temporal_merge_size"))
    text, parts = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, parts, heads=heads, tied=True).having(
        Ernie45VlMoe.read(c, temporal_merge_size=times)
    )


def blueprint(s: Spec[Ernie45VlMoe]) -> Block:
    vision = s.part("vision")
    merged = vision.seen.merged(vision.hidden)

    def linear(inputs: int) -> Block:
        return Block({"0": Linear(inputs, merged, True), "2": Linear(merged, merged, True), "3": layer_norm(merged)})

    resampler = block(
        "projector",
        spatial_linear=linear(merged),
        temporal_linear=linear(s.own.temporal_merge_size * merged),
        mlp=Linear(merged, s.hidden, True),
        after_norm=rms_norm(s.hidden),
    )
    senses = {"vision_model": families.tower(s, "vision"), "resampler_model": Block(resampler.children, "projector", 0)}
    return with_head(s, Block({**families.base(s).children, **senses}))


class Ernie45VlMoeText(Sizes):
    seen: int
    use_bias: bool
    within: int


def text_spec(c: Config) -> Spec[Ernie45VlMoeText]:
    """ERNIE 4.5 VL's language model: experts for text and narrower ones for images, apart (ERNIE 4.5 technical
    report).
    """
    bias = c.bool("use_bias", default=False)
    widths = c.ints("moe_intermediate_size", default=(1536, 512))
    if len(widths) < 2:
        raise c.error(
            "list-length",
            "moe_intermediate_size must have 2 entries: for text and for images.",
            "moe_intermediate_size",
        )

    def routed() -> MoE:
        among, shared = c.int("moe_num_experts"), c.int("moe_num_shared_experts", minimum=0)
        chosen = keys.at_most(c, "moe_k", c.int("moe_k"), among)
        return MoE(experts=among, active=chosen, width=widths[0], shared=widths[0] * shared if shared else None)

    places = keys.dense_and_sparse(c, default=1)
    layers = keys.networks(c, places, routed, keys.attention(c, bias=bias), bias=bias)
    # Within the whole model, the experts of a layer are numbered through.
    sizes = Ernie45VlMoeText.read(c, seen=keys.dim("d_g", widths[1]), use_bias=bias, within=c.nested)
    return keys.decoder_spec(c, layers, heads=("Model",)).having(sizes)


def text_blueprint(s: Spec[Ernie45VlMoeText]) -> Block:
    d, bias, vision_width = s.hidden, s.own.use_bias, s.own.seen

    def apart(m: MoE) -> Block:
        statics = block(e_score_correction_bias=Tensor((1, m.experts)))
        gate = block("router", weight=Tensor((m.experts, d)), moe_statics=statics)
        up, down = stacked(m, 2 * m.width, d), stacked(m, d, m.width)
        return block(gate=gate, experts=block(gate_up_proj=up, down_proj=down))

    def routed(m: MoE) -> Block:
        shared = None if m.shared is None else swiglu(d, m.shared, bias)
        if not s.own.within:
            # No text token uses the experts for images, nor what chooses among them.
            other = Block(apart(m.replace(width=vision_width, active=0)).children, repeats=0)
            return block(text_moe=apart(m), vision_moe=other, shared_experts=shared)
        expert, other = (swiglu(d, width, component="experts") for width in (m.width, vision_width))
        later = Indices(range(m.experts, 2 * m.experts), m.experts)
        chooses = Tensor((d, m.experts))
        return block(
            gate=(block("router", weight=chooses), Block({"weight_1": chooses}, "router", repeats=0)),
            moe_statics=block("router", e_score_correction_bias=Tensor((2, m.experts))),
            experts=(experts(m, expert), Repeat(later, other, active=0)),
            shared_experts=shared,
        )

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, routed))

    return base(s, layer_block)


def vision_spec(c: Config) -> Spec:
    """ERNIE 4.5 VL's vision tower: flattened patches, rotary positions (ERNIE 4.5 technical report)."""
    patches = keys.patches(c, "in_channels", merge=c.int("spatial_merge_size"))
    return keys.tower(
        c,
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=patches,
        further={"PretrainedModel": "base"},
    )


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width)
        return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=fused_square_attention(d), mlp=network)

    return block(patch_embed=block(proj=patch_projection(s)), blocks=stack(s.layers, layer_block), ln=layer_norm(d))


PARTS = (
    families.Family(("ernie4_5_vl_moe_text",), text_spec, text_blueprint),
    families.Family(("ernie4_5_vl_moe_vision",), vision_spec, vision_blueprint),
)
