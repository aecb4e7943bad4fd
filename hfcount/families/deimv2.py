"""DEIMv2: D-FINE over DINOv3 or a small HGNetV2, with gated networks and an encoder that sums (arXiv:2509.20787)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.detection import channels, chosen, detecting, distributing
from hfcount.mapper import Config
from hfcount.parts import embedding
from hfcount.parts.deim import decoder, encoder, features, step
from hfcount.parts.detection import perceptron, second_names
from hfcount.parts.distributions import predicting, same_boxes, sides
from hfcount.parts.hybrid import normed_linear
from hfcount.spec import Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("deimv2",)  # transformers 5.23: modeling_deimv2.py
IGNORED = (
    "feat_strides",
    "anchor_image_size",
    "eval_size",
    "positional_encoding_temperature",
    "with_box_refine",
    "use_focal_loss",
    "use_dense_one_to_one",
)

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


def spec(c: Config) -> Spec:
    backbone = families.backbone(c)
    widths = channels(chosen(c.part("backbone_config")), backbone)
    upper, lower = c.ints("encoder_in_channels", least=1), c.ints("decoder_in_channels", least=1)
    traits: dict[str, int] = {
        **distributing(c),
        "tied": c.bool("tie_word_embeddings", default=True),
        "shared": c.bool("share_bbox_head", default=False),
        "gated": c.bool("use_gateway", default=True),
        "trailing": c.bool("encoder_has_trailing_conv", default=True),
        "lite": c.str("encoder_type") == "lite",
        "planes": keys.sized("n_a", c.int("spatial_tuning_adapter_inplanes")),
        "levels": len(upper),
        "uppers": len(widths),
        "lowers": len(lower),
        "lower": keys.sized("C_d", lower[-1]),
        **{f"upper.{place}": width for place, width in enumerate(widths)},
        **{f"level.{place}": keys.sized(f"E{place + 1}", width) for place, width in enumerate(upper)},
    }
    whole = detecting(c, _HEADS, backbone, traits=traits, inside="encoder_hidden_dim")
    if traits["shared"] and not traits["tied"] and whole.head != "base":
        raise UnknownArchitecture(f"{c.where}: boxes that share_bbox_head shares, with untied predictions.")
    return whole


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    same, levels = int(of["lower"]) == int(d), max(of["lowers"], of["num_feature_levels"])
    sizes = [1 if place < of["lowers"] else 3 for place in range(levels)]
    taken = {str(place): step(of["lower"], d, side) for place, side in enumerate(sizes)}

    body = block(
        conv_encoder=features(s, families.tree(s.parts["backbone"])),
        encoder=encoder(s),
        denoising_class_embed=embedding(s.labels + 1, d) if of["denoised"] else None,
        weight_embedding=embedding(of["num_queries"], d) if of["learned"] else None,
        enc_output=normed_linear(d),
        enc_score_head=Linear(d, s.labels, True, "other"),
        enc_bbox_head=perceptron(d, d, d, 4),
        decoder_input_proj=None if same else Block(taken, "projector"),
        decoder=Block({**decoder(s), **({} if s.head == "base" else predicting(s, bool(of["shared"])))}),
    )
    if s.head == "base":
        return body
    further: dict[str, Node] = second_names(s.depth, s.labels, d, d, d, sides(s)) if of["tied"] else predicting(s)
    if of["shared"]:
        further["bbox_embed"] = Repeat(Indices.below(s.depth), same_boxes(s))
    return block(model=body, **further)
