"""LW-DETR: a ViT, convolutions that join its features at several scales, a shallow decoder (arXiv:2406.03459)."""

from hfcount import families, keys
from hfcount.families.lw_detr_vit import LwDetrVit
from hfcount.keys.detection import grouped_queries
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, mlp, stack
from hfcount.parts.classic import mha
from hfcount.parts.detection import perceptron, sampling
from hfcount.parts.grouped import proposing, scaled
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("lw_detr",)  # transformers 5.23: modeling_lw_detr.py
IGNORED = ("projector_in_channels", "projector_out_channels")
SPELLINGS = {
    **{rf"attention\.attention\.{name}\.": f"attention.{name[0]}_proj." for name in ("query", "key", "value")},
    r"attention\.output\.": "attention.o_proj.",
}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_SCALES = (0.5, 1.0, 2.0)


def spec(c: Config) -> Spec:
    backbone = keys.only(c, families.backbone(c), "lw_detr_vit")
    scales = c.entries("projector_scale_factors")
    if any(type(scale) is not float or scale not in _SCALES for scale in scales):
        said = f"projector_scale_factors may name {', '.join(map(str, _SCALES))}."
        raise c.error(said, "projector_scale_factors", "Correct it.")
    if scales and not backbone.sizes(LwDetrVit).outputs:
        raise c.error("the backbone gives no features for the projector.", "backbone_config", "Name its out_indices.")
    traits = {
        "num_feature_levels": keys.sized("n_l", c.int("num_feature_levels", default=len(scales), minimum=0)),
        "scales": len(scales),
        **{f"halves.{place}": int(2 * scale) for place, scale in enumerate(scales)},  # how many halves of the size
    }
    return grouped_queries(c, backbone, _HEADS, traits)


def blueprint(s: Spec) -> Block:
    d, of, seen = s.hidden, s.traits, s.parts["backbone"]
    points, queries = of["num_feature_levels"] * of["decoder_n_points"], of["num_queries"] * of["group_detr"]

    def layer(one: Layer) -> Block:
        return block(
            self_attn=mha(d, one.attention, "o_proj"),
            self_attn_layer_norm=layer_norm(d),
            cross_attn=sampling(d, points, one.traits["decoder_cross_attention_heads"]),
            cross_attn_layer_norm=layer_norm(d),
            mlp=mlp(d, one.dense.width),
            layer_norm=layer_norm(d),
        )

    scales = {
        str(place): scaled(s, seen.sizes(LwDetrVit).outputs, of[f"halves.{place}"]) for place in range(of["scales"])
    }
    body = block(
        backbone=block(backbone=families.tree(seen), projector=block(scale_layers=Block(scales))),
        reference_point_embed=embedding(queries, 4),
        query_feat=embedding(queries, d),
        decoder=block(layers=stack(s.layers, layer), layernorm=layer_norm(d), ref_point_head=perceptron(2 * d, d, d)),
        **proposing(s),
    )
    if s.head == "base":
        return body
    return block(model=body, class_embed=Linear(d, s.labels, True, "other"), bbox_embed=perceptron(d, d, d, 4))
