"""RT-DETR, versions 1 and 2: a hybrid encoder and a decoder that refines boxes (arXiv:2304.08069, arXiv:2407.17140)."""

from hfcount import families, keys
from hfcount.keys.detection import channels, chosen, detecting
from hfcount.mapper import Config
from hfcount.parts import embedding, stack
from hfcount.parts.convolution import frozen
from hfcount.parts.detection import detr_layer, perceptron, sampling, second_names
from hfcount.parts.hybrid import hybrid_encoder, normed_linear, projected
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block, buffer

MODEL_TYPES = ("rt_detr", "rt_detr_v2")  # transformers 5.23: modeling_rt_detr.py, modeling_rt_detr_v2.py
IGNORED = ("feat_strides", "anchor_image_size", "eval_size", "positional_encoding_temperature", "decoder_offset_scale")
SPELLINGS = {
    r"\.o_proj\.": ".out_proj.",
    r"layers\.(\d+)\.mlp\.fc": r"layers.\1.fc",
    r"encoder\.aifi\.": "encoder.encoder.",
}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


def spec(c: Config) -> Spec:
    backbone = families.backbone(c)
    places = [2, 3, 4] if not c.given("backbone_config") else chosen(c.part("backbone_config"))
    widths, lower = channels(places, backbone), c.ints("decoder_in_channels", default=(256, 256, 256), least=1)
    traits: dict[str, int] = {
        "num_queries": keys.sized("n_q", c.int("num_queries")),
        "learned": c.bool("learn_initial_query", default=False),
        "denoised": c.int("num_denoising", minimum=0) > 0,
        "frozen": c.bool("freeze_backbone_batch_norms", default=True),
        "encoder_fused": keys.sized("d_h", c.times("hidden_expansion", c.int("encoder_hidden_dim"), default=1.0)),
        "levels": len(c.ints("encoder_in_channels", default=(512, 1024, 2048))),
        "attended": len(c.ints("encode_proj_layers", default=(2,))),
        "num_feature_levels": keys.sized("n_l", c.int("num_feature_levels")),
        "decoder_n_points": keys.sized("n_s", c.int("decoder_n_points")),
        "uppers": len(widths),
        "lowers": len(lower),
        **{f"upper.{place}": width for place, width in enumerate(widths)},
        **{f"lower.{place}": keys.sized(f"C{place + 1}", width) for place, width in enumerate(lower)},
    }
    return detecting(c, _HEADS, backbone, traits=traits, inside="encoder_hidden_dim")


def blueprint(s: Spec) -> Block:
    d, of, labels, second = s.hidden, s.traits, s.labels, s.family == "rt_detr_v2"
    levels, seen = of["num_feature_levels"], families.tree(s.parts["backbone"])
    points = levels * of["decoder_n_points"]
    upper = [of[f"upper.{place}"] for place in range(of["uppers"])]
    lower = [of[f"lower.{place}"] for place in range(of["lowers"])]

    def layer(one: Layer) -> Block:
        scale = {"n_points_scale": buffer(points)} if second else {}
        return detr_layer(d, one, sampling(d, points, one.attention.heads, **scale))

    box, each = perceptron(d, d, d, 4), Indices.below(s.depth)
    # One head for each layer of the decoder.
    refined = block(class_embed=Repeat(each, Linear(d, labels, True, "other")), bbox_embed=Repeat(each, box))
    decoder = block(layers=stack(s.layers, layer), query_pos_head=perceptron(4, 2 * d, d))
    body = block(
        backbone=block(model=frozen(seen) if of["frozen"] else seen),
        encoder_input_proj=projected(upper, s.parts["encoder"].hidden),
        encoder=hybrid_encoder(s),
        denoising_class_embed=embedding(labels + 1, d) if of["denoised"] else None,
        weight_embedding=embedding(of["num_queries"], d) if of["learned"] else None,
        enc_output=normed_linear(d),
        enc_score_head=Linear(d, labels, True, "other"),
        enc_bbox_head=box,
        decoder_input_proj=projected(lower, d, max(0, int(levels) - len(lower))),
        decoder=decoder if s.head == "base" else Block({**decoder.children, **refined.children}),
    )
    if s.head == "base":
        return body
    return block(model=body, **(second_names(s.depth, labels, d, d, d, 4) if second else {}))
