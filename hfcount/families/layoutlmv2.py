"""LayoutLMv2 and LayoutXLM: words with their places, and a page as detectron2's ResNeXt sees it (arXiv:2012.14740)."""

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, layer_norm, stack, within
from hfcount.parts.classic import classifier
from hfcount.parts.convolution import conv, led
from hfcount.parts.encoders import bert_embeddings, bert_heads, bert_layer
from hfcount.spec import Layer, Spec
from hfcount.spec.components import Traits
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block, buffer, obsolete

# transformers 5.23: modeling_layoutlmv2.py
# The names of the backbone are those of detectron2 0.6, modeling/backbone/resnet.py and fpn.py.
MODEL_TYPES = ("layoutlmv2", "layoutxlm")
IGNORED = ("max_rel_pos", "max_rel_2d_pos", "convert_sync_batchnorm")

_HEADS = ("Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
_STAGES = ["res2", "res3", "res4", "res5"]
_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
_DEEP, _COLOURS = 50, 3  # from which depth on layers are bottlenecks; channels of a pixel
_USUAL = {  # what a config without detectron2_config_args means; one that has them leaves the rest to detectron2
    "MODEL.BACKBONE.NAME": "build_resnet_fpn_backbone",
    "MODEL.FPN.IN_FEATURES": _STAGES,
    "MODEL.RESNETS.OUT_FEATURES": _STAGES,
    "MODEL.RESNETS.DEPTH": 101,
    "MODEL.RESNETS.NUM_GROUPS": 32,
    "MODEL.RESNETS.WIDTH_PER_GROUP": 8,
}


def spec(c: Config) -> Spec:
    traits = {
        "max_2d_position_embeddings": keys.sized("n_2", c.int("max_2d_position_embeddings")),
        "coordinate_size": keys.sized("d_x", c.int("coordinate_size")),
        "shape_size": keys.sized("d_s", c.int("shape_size")),
        "rel_pos_bins": keys.sized("b", c.int("rel_pos_bins")),
        "rel_2d_pos_bins": keys.sized("b_2", c.int("rel_2d_pos_bins")),
        "fast_qkv": c.bool("fast_qkv", default=True),
        "has_visual_segment_embedding": c.bool("has_visual_segment_embedding", default=False),
        **{key: c.bool(key, default=True) for key in ("has_relative_attention_bias", "has_spatial_attention_bias")},
        **_backbone(c),
    }
    pooled = c.ints("image_feature_pool_shape", default=(7, 7, traits["fpn"]))
    if len(pooled) < 2 or (len(pooled) > 2 and pooled[2] != traits["fpn"]):
        said = f"image_feature_pool_shape must be height, width and the {traits['fpn']:,} channels of the backbone."
        raise c.error(said, "image_feature_pool_shape")
    traits["seen"] = pooled[-1] if len(pooled) > 2 else traits["fpn"]
    return keys.encoder(c, heads=_HEADS, traits=traits, decoding=False).but(tied=False)


def _backbone(c: Config) -> dict[str, int]:
    """The traits of a pyramid over a ResNet, whose keys are detectron2's."""
    given = c.sub("detectron2_config_args")
    args = given or c.part("detectron2_config_args", defaults=_USUAL)
    args.ignored = tuple(c.object("detectron2_config_args") or ())  # most are of what comes after, which is not kept

    def size(key: str, default: int) -> int:
        return int(args.int(f"MODEL.{key}", default=default))

    usual = {
        "META_ARCHITECTURE": args.str("MODEL.META_ARCHITECTURE", default="GeneralizedRCNN") == "GeneralizedRCNN",
        "BACKBONE.NAME": args.str("MODEL.BACKBONE.NAME", default="") == _USUAL["MODEL.BACKBONE.NAME"],
        "FPN.NORM": not args.str("MODEL.FPN.NORM", default=""),
        "RESNETS.NORM": args.str("MODEL.RESNETS.NORM", default="FrozenBN") == "FrozenBN",
        "RESNETS.RES5_DILATION": size("RESNETS.RES5_DILATION", 1) == 1,
        "RESNETS.DEFORM_ON_PER_STAGE": not any(args.entries("MODEL.RESNETS.DEFORM_ON_PER_STAGE")),
    }
    for key, known in usual.items():
        if not known:
            raise UnknownArchitecture(f"{args.where}: a MODEL.{key} other than LayoutLMv2's own is not described.")
    depth, deep = size("RESNETS.DEPTH", 50), size("RESNETS.DEPTH", 50) >= _DEEP
    if depth not in _DEPTHS:
        said = f"MODEL.RESNETS.DEPTH is {depth:,}, and must be one of {', '.join(map(str, _DEPTHS))}."
        raise args.error(said, "MODEL.RESNETS.DEPTH")
    groups, out = size("RESNETS.NUM_GROUPS", 1), size("RESNETS.RES2_OUT_CHANNELS", 256)
    if not deep and (groups, out) != (1, 64):
        raise args.error(
            f"MODEL.RESNETS.DEPTH {depth} needs 1 group and 64 channels after res2.", "MODEL.RESNETS.DEPTH"
        )
    built, read = (args.strs(f"MODEL.{key}") for key in ("RESNETS.OUT_FEATURES", "FPN.IN_FEATURES"))
    if not read or read != _STAGES[: len(read)] or not set(read) <= set(built) <= {"stem", *_STAGES}:
        said = "MODEL.FPN.IN_FEATURES must begin with res2, go up by one, and be among MODEL.RESNETS.OUT_FEATURES."
        raise args.error(said, "MODEL.FPN.IN_FEATURES")
    means, spread = args.length("MODEL.PIXEL_MEAN"), args.length("MODEL.PIXEL_STD")
    if (means or _COLOURS) != (spread or _COLOURS):
        raise args.error("MODEL.PIXEL_MEAN and MODEL.PIXEL_STD must be as long.", "MODEL.PIXEL_MEAN")
    return {
        "deep": deep,
        "depth": depth,
        "groups": groups,
        "channels": keys.sized("C", means or _COLOURS),
        "stem": keys.sized("d_0", size("RESNETS.STEM_OUT_CHANNELS", 64)),
        "out": keys.sized("d_2", out),
        "inner": keys.sized("b_i", groups * size("RESNETS.WIDTH_PER_GROUP", 64)),
        "fpn": keys.sized("d_p", size("FPN.OUT_CHANNELS", 256)),
        "built": max((_STAGES.index(name) + 1 for name in built if name in _STAGES), default=0),
        "read": len(read),
    }


def blueprint(s: Spec) -> Block:
    d, of, heads = s.hidden, s.traits, s.layers[0].layer.attention.heads
    rows, norm = of["max_2d_position_embeddings"], layer_norm(s.hidden)
    sizes = {"x": of["coordinate_size"], "y": of["coordinate_size"], "h": of["shape_size"], "w": of["shape_size"]}
    places = Block({f"{which}_position_embeddings": embedding(rows, width) for which, width in sizes.items()})
    one, two = (Linear(of[key], heads, component="attention") for key in ("rel_pos_bins", "rel_2d_pos_bins"))
    spatial = two if of["has_spatial_attention_bias"] else None
    segment = of["has_visual_segment_embedding"] or s.head == "question_answering"
    colours = obsolete(of["channels"], 1, 1)
    body = block(
        embeddings=bert_embeddings(s, more=places),
        visual=Block({"backbone": _pyramid(of), "pixel_mean": colours, "pixel_std": colours}, "vision", 0),
        visual_proj=Linear(of["seen"], d, True, "projector"),
        visual_segment_embedding=Tensor((d,), component="embedding") if segment else None,
        visual_LayerNorm=norm,
        encoder=block(
            layer=stack(s.layers, lambda one: _layer(d, one, bool(of["fast_qkv"]))),
            rel_pos_bias=one if of["has_relative_attention_bias"] else None,
            rel_pos_x_bias=spatial,
            rel_pos_y_bias=spatial,
        ),
        pooler=block("other", dense=Linear(d, d, True)),
    )
    return bert_heads(s, "layoutlmv2", body, sequence_classification=block(classifier=classifier(s, 3 * d)))


def _layer(d: int, one: Layer, fused: bool) -> Block:
    layer = bert_layer(d, one)
    if not fused:
        return layer
    wide = one.attention.heads * one.attention.head_dim
    bias = Tensor((1, 1, wide))
    own = block("attention", qkv_linear=Linear(d, 3 * wide), q_bias=bias, v_bias=bias)
    return within(layer, attention=block(self=own))


def _pyramid(of: Traits) -> Block:
    """Convolutions with norms that do not learn, stage by stage, and what is read of each."""
    before, out, inner, fpn, groups = of["stem"], of["out"], of["inner"], of["fpn"], of["groups"]
    found: dict[str, Node] = {}
    stages: dict[str, Node] = {"stem": block(conv1=_conv(of["channels"], before, 7))}
    for number, name in enumerate(_STAGES[: of["built"]]):

        def layer(inputs: int, inner: int = inner, out: int = out) -> Block:
            way = [(inputs, inner, 1, 1), (inner, inner, 3, groups), (inner, out, 1, 1)]
            steps = way if of["deep"] else [(inputs, out, 3, 1), (out, out, 3, 1)]
            named = {f"conv{place}": _conv(*step) for place, step in enumerate(steps, 1)}
            return Block(named | ({"shortcut": _conv(inputs, out, 1)} if inputs != out else {}))

        stages[name] = led(_DEPTHS[of["depth"]][number], layer(before), layer(out))
        if number < of["read"]:
            found[f"fpn_lateral{number + 2}"] = conv(out, fpn, 1, bias=True)
            found[f"fpn_output{number + 2}"] = conv(fpn, fpn, 3, bias=True)
        before, out, inner = out, 2 * out, 2 * inner
    return Block({"bottom_up": Block(stages), **found})


def _conv(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    held = buffer(outputs)
    # Checkpoints trained with norms that learn count their batches.
    counted = obsolete(whole=True)
    norm = block("norm", weight=held, bias=held, running_mean=held, running_var=held, num_batches_tracked=counted)
    return altered(conv(inputs, outputs, side, groups=groups), norm=norm)
