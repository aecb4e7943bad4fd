"""ERNIE 4.5 VL's language model: experts for text and narrower ones for images, apart (ERNIE 4.5 technical report)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, experts, gqa, network, pre_norm, stacked, swiglu
from hfcount.spec import Layer, MoE, Sizes, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block

MODEL_TYPES = ("ernie4_5_vl_moe_text",)  # transformers 5.23: modeling_ernie4_5_vl_moe.py


class Ernie45VlMoeText(Sizes):
    """What this architecture alone has."""

    seen: int
    use_bias: bool
    within: int


def spec(c: Config) -> Spec[Ernie45VlMoeText]:
    bias = c.bool("use_bias", default=False)
    widths = c.ints("moe_intermediate_size", default=(1536, 512))
    if len(widths) < 2:
        raise c.error("moe_intermediate_size must have 2 entries: for text and for images.", "moe_intermediate_size")

    def routed() -> MoE:
        among, shared = c.int("moe_num_experts"), c.int("moe_num_shared_experts", minimum=0)
        chosen = keys.at_most(c, "moe_k", c.int("moe_k"), among)
        return MoE(experts=among, active=chosen, width=widths[0], shared=widths[0] * shared if shared else None)

    places = keys.dense_and_sparse(c, default=1)
    layers = keys.networks(c, places, routed, keys.attention(c, bias=bias), bias=bias)
    # Within the whole model, the experts of a layer are numbered through.
    own = Ernie45VlMoeText.read(c, seen=keys.dim("d_g", widths[1]), use_bias=bias, within=c.nested)
    return keys.decoder_spec(c, layers, heads=("Model",)).having(own)


def blueprint(s: Spec[Ernie45VlMoeText]) -> Block:
    d, bias, seen = s.hidden, s.own.use_bias, s.own.seen

    def apart(m: MoE) -> Block:
        statics = block(e_score_correction_bias=Tensor((1, m.experts)))
        gate = block("router", weight=Tensor((m.experts, d)), moe_statics=statics)
        up, down = stacked(m, 2 * m.width, d), stacked(m, d, m.width)
        return block(gate=gate, experts=block(gate_up_proj=up, down_proj=down))

    def routed(m: MoE) -> Block:
        shared = None if m.shared is None else swiglu(d, m.shared, bias)
        if not s.own.within:
            # No text token uses the experts for images, nor what chooses among them.
            other = Block(apart(m.replace(width=seen, active=0)).children, repeats=0)
            return block(text_moe=apart(m), vision_moe=other, shared_experts=shared)
        one, other = (swiglu(d, width, component="experts") for width in (m.width, seen))
        later = Indices(range(m.experts, 2 * m.experts), m.experts)
        chooses = Tensor((d, m.experts))
        return block(
            gate=(block("router", weight=chooses), Block({"weight_1": chooses}, "router", repeats=0)),
            moe_statics=block("router", e_score_correction_bias=Tensor((2, m.experts))),
            experts=(experts(m, one), Repeat(later, other, active=0)),
            shared_experts=shared,
        )

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=network(d, one, routed))

    return base(s, layer)
