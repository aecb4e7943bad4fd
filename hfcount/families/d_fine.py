"""D-FINE: RT-DETR whose decoder refines where each side of a box may be, as distributions (arXiv:2410.13842)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.detection import UNSHAPED, channels, chosen, detecting
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.classic import fc
from hfcount.parts.convolution import frozen
from hfcount.parts.detection import perceptron, second_names
from hfcount.parts.hybrid import aggregated, hybrid_encoder, normed_linear, projected, separable
from hfcount.parts.vision import square_attention
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

MODEL_TYPES = ("d_fine",)  # transformers 5.23: modeling_d_fine.py
IGNORED = (*UNSHAPED, "feat_strides", "head_dim")
SPELLINGS = {
    r"\.o_proj\.": ".out_proj.",
    r"(layers\.\d+)\.mlp\.layers\.0\.": r"\1.fc1.",
    r"(layers\.\d+)\.mlp\.layers\.1\.": r"\1.fc2.",
    r"encoder\.aifi\.": "encoder.encoder.",
}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_BLOCKS = 3  # of a fusion of two levels, at a depth of 1


def spec(c: Config) -> Spec:
    backbone = families.backbone(c)
    places = [2, 3, 4] if not c.given("backbone_config") else chosen(c.part("backbone_config"))
    widths, lower = channels(places, backbone), c.ints("decoder_in_channels", default=(256, 256, 256), least=1)
    depth, last = c.int("decoder_layers"), c.int("eval_idx", default=-1, minimum=-64)
    if (last if last >= 0 else depth + last) != depth - 1:
        raise UnknownArchitecture(f"{c.where}: layers behind the one that eval_idx names are not described.")
    levels = c.int("num_feature_levels", maximum=64)
    points = c.ints("decoder_n_points", default=(4,), alone=True, least=1)
    inside = c.int("encoder_hidden_dim")
    fused = c.times("hidden_expansion", inside, default=1.0) // 2
    traits: dict[str, int] = {
        "num_queries": keys.sized("n_q", c.int("num_queries")),
        "learned": c.bool("learn_initial_query", default=False),
        "denoised": c.int("num_denoising", minimum=0) > 0,
        "frozen": c.bool("freeze_backbone_batch_norms", default=True),
        "encoder_fused": keys.sized("d_h", fused),
        "blocks": round(_BLOCKS * c.number("depth_mult", default=1.0)),
        "levels": len(c.ints("encoder_in_channels", default=(512, 1024, 2048))),
        "attended": len(c.ints("encode_proj_layers", default=(2,))),
        "num_feature_levels": keys.sized("n_l", levels),
        "points": keys.sized("n_s", sum(points) if len(points) > 1 else points[0] * levels),
        "max_num_bins": keys.sized("n_b", c.int("max_num_bins")),
        "top_prob_values": keys.sized("n_t", c.int("top_prob_values")),
        "lqe_hidden_dim": keys.sized("d_q", c.int("lqe_hidden_dim")),
        "lqe_layers": c.int("lqe_layers", maximum=64),
        "lowers": len(lower),
        "lower": keys.sized("C_d", lower[-1] if lower else 0),
        "uppers": len(widths),
        **{f"upper.{place}": width for place, width in enumerate(widths)},
    }
    return detecting(c, _HEADS, backbone, traits=traits, inside="encoder_hidden_dim")


def blueprint(s: Spec) -> Block:
    d, of, labels, norm, inside = s.hidden, s.traits, s.labels, layer_norm(s.hidden), s.parts["encoder"].hidden
    levels, points, seen = of["num_feature_levels"], of["points"], families.tree(s.parts["backbone"])
    upper = [of[f"upper.{place}"] for place in range(of["uppers"])]

    def layer(one: Layer) -> Block:
        heads = one.attention.heads
        sampled = block(
            "attention",
            sampling_offsets=Linear(d, 2 * heads * points, True),
            attention_weights=Linear(d, heads * points, True),
            num_points_scale=buffer(points),
        )
        gate = block("mlp", gate=Linear(2 * d, 2 * d, True), norm=norm)
        first = {"self_attn": square_attention(d, out="out_proj"), "self_attn_layer_norm": norm}
        return Block(
            {**first, "encoder_attn": sampled, **fc(d, one.dense.width), "final_layer_norm": norm, "gateway": gate}
        )

    sides, each = 4 * (of["max_num_bins"] + 1), Indices.below(s.depth)
    steps = [of["lqe_hidden_dim"]] * (of["lqe_layers"] - 1)
    sure = block(reg_conf=perceptron(4 * (of["top_prob_values"] + 1), *steps, 1))
    refined = block(
        class_embed=Repeat(each, Linear(d, labels, True, "other")), bbox_embed=Repeat(each, perceptron(d, d, d, sides))
    )
    one = Tensor((1,), component="other")
    decoder = block(
        layers=stack(s.layers, layer),
        query_pos_head=perceptron(4, 2 * d, d),
        reg_scale=one,
        up=one,
        pre_bbox_head=perceptron(d, d, d, 4),
        lqe_layers=Repeat(each, sure),
    )
    lower = [of["lower"]] * of["lowers"]
    body = block(
        backbone=block(model=frozen(seen) if of["frozen"] else seen),
        encoder_input_proj=projected(upper, inside),
        encoder=hybrid_encoder(s, aggregated(inside, of["encoder_fused"], of["blocks"]), separable(inside)),
        denoising_class_embed=embedding(labels + 1, d) if of["denoised"] else None,
        weight_embedding=embedding(of["num_queries"], d) if of["learned"] else None,
        enc_output=normed_linear(d),
        enc_score_head=Linear(d, labels, True, "other"),
        enc_bbox_head=perceptron(d, d, d, 4),
        decoder_input_proj=(
            projected(lower, d, max(0, int(levels) - len(lower)), of["lower"]) if int(of["lower"]) != int(d) else None
        ),
        decoder=decoder if s.head == "base" else Block({**decoder.children, **refined.children}),
    )
    return body if s.head == "base" else block(model=body, **second_names(s.depth, labels, d, d, d, sides))
