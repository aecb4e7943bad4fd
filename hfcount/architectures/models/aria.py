"""Aria: a tower of patches, queries that attend to them, a language model with experts (arXiv:2410.05993)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import decoder, gqa, layer_norm, pre_norm, router, stacked, swiglu
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("aria",)  # transformers 5.23: modeling_aria.py
SPELLINGS = LLAVA


class Aria(Sizes):
    queries: int


def spec(c: Config) -> Spec[Aria]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    queries = c.object("projector_patch_to_query_dict") or {"1225": 128, "4900": 256}
    counts = [count for count in queries.values() if type(count) is int and count > 0]
    if not counts:
        raise c.error(
            "out-of-range", "projector_patch_to_query_dict names no number of queries.", "projector_patch_to_query_dict"
        )
    most = c.int("max_value_projector_patch_to_query_dict", default=max(counts))
    sizes = Aria.read(c, queries=keys.dim("n_q", most))
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).having(sizes)


def blueprint(s: Spec[Aria]) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    square, norm = Linear(vision_width, vision_width), layer_norm(vision_width)
    out = Linear(vision_width, vision_width, True)
    attention = block(
        in_proj_weight=Tensor((3 * vision_width, vision_width)), in_proj_bias=Tensor((3 * vision_width,)), out_proj=out
    )
    crossed = block(
        q_proj=square,
        k_proj=square,
        v_proj=square,
        multihead_attn=attention,
        linear=out,
        layer_norm=norm,
        layer_norm_kv=norm,
    )
    projector = block(
        "projector",
        query=Tensor((s.own.queries, vision_width)),
        cross_attn=crossed,
        layer_norm=norm,
        feed_forward=block(linear_in=Linear(vision_width, d), linear_out=Linear(d, d)),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)


def text_spec(c: Config) -> Spec:
    """Aria, the language model: experts stacked in one tensor per matrix, beside shared ones (arXiv:2410.05993)."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    names = {"experts": ("moe_num_experts",), "active": ("moe_topk",), "shared": ("moe_num_shared_experts",)}
    ffn = keys.moe(c, "intermediate_size", **names).replace(bias=c.bool("mlp_bias", default=False))
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn))


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m = layer.moe
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            mlp=block(
                router=router(d, m),
                experts=block(
                    "experts",
                    fc1=block(weight=stacked(m, d, 2 * m.width)),
                    fc2=block(weight=stacked(m, m.width, d)),
                ),
                shared_experts=None if m.shared is None else swiglu(d, m.shared, m.bias),
            ),
        )

    return decoder(s, layer_block)


PARTS = (
    families.Family(
        ("aria_text",),
        text_spec,
        text_blueprint,
        spellings={
            r"mlp\.experts\.fc1\.weight$": "mlp.experts.gate_up_proj",
            r"mlp\.experts\.fc2\.weight$": "mlp.experts.down_proj",
        },
    ),
)
