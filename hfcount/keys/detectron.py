"""A backbone of detectron2, as detectron2_config_args ask for it.

Source: detectron2 0.6, config/defaults.py, modeling/backbone/resnet.py, modeling/backbone/fpn.py.
"""

from hfcount.errors import UnknownArchitecture
from hfcount.keys.sizes import sized
from hfcount.mapper import Config

_STAGES = ["res2", "res3", "res4", "res5"]
_DEPTHS = (18, 34, 50, 101, 152)
_DEEP, _COLOURS = 50, 3  # from which depth on layers are bottlenecks; channels of a pixel
_USUAL = {  # what LayoutLMv2 asks for where a config asks for nothing; what it does not name is as detectron2 has it
    "MODEL.BACKBONE.NAME": "build_resnet_fpn_backbone",
    "MODEL.FPN.IN_FEATURES": _STAGES,
    "MODEL.RESNETS.OUT_FEATURES": _STAGES,
    "MODEL.RESNETS.DEPTH": 101,
    "MODEL.RESNETS.NUM_GROUPS": 32,
    "MODEL.RESNETS.WIDTH_PER_GROUP": 8,
}


def pyramid(c: Config) -> dict[str, int]:
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
        "channels": sized("C", means or _COLOURS),
        "stem": sized("d_0", size("RESNETS.STEM_OUT_CHANNELS", 64)),
        "out": sized("d_2", out),
        "inner": sized("b_i", groups * size("RESNETS.WIDTH_PER_GROUP", 64)),
        "fpn": sized("d_p", size("FPN.OUT_CHANNELS", 256)),
        "built": max((_STAGES.index(name) + 1 for name in built if name in _STAGES), default=0),
        "read": len(read),
    }
