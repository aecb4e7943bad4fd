"""A backbone of detectron2, as detectron2_config_args ask for it: a ResNet or ResNeXt, and a pyramid over it.

Source: detectron2 0.6, config/defaults.py, modeling/backbone/resnet.py, modeling/backbone/fpn.py.
"""

from typing import Self

from hfcount.architectures.keys import dim
from hfcount.architectures.layers import altered
from hfcount.architectures.layers.convolution import conv, led
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, Node, block, buffer, obsolete

_STAGES = ["res2", "res3", "res4", "res5"]
_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
_DEEP, _COLOURS = 50, 3  # from which depth on layers are bottlenecks; channels of a pixel
_BUILDER = "build_resnet_fpn_backbone"
_USUAL = {  # what LayoutLMv2 asks for where a config asks for nothing; what it does not name is as detectron2 has it
    "MODEL.BACKBONE.NAME": _BUILDER,
    "MODEL.FPN.IN_FEATURES": _STAGES,
    "MODEL.RESNETS.OUT_FEATURES": _STAGES,
    "MODEL.RESNETS.DEPTH": 101,
    "MODEL.RESNETS.NUM_GROUPS": 32,
    "MODEL.RESNETS.WIDTH_PER_GROUP": 8,
}


class FeaturePyramid(Record):
    """A pyramid `width` wide over the first `seen` of `built` stages of convolutions, which are ResNet's of a depth.

    The first stage makes `out` channels by way of `inner`, of `stem`, and each later one twice as many.
    """

    depth: int
    groups: int
    channels: int
    stem: int
    out: int
    inner: int
    width: int
    built: int
    seen: int

    @classmethod
    def read(cls, c: Config) -> Self:
        """Its sizes; most keys are of what comes after it, which is not kept."""
        given = c.sub("detectron2_config_args")
        args = given or c.part("detectron2_config_args", defaults=_USUAL)
        args.ignored = tuple(c.object("detectron2_config_args") or ())

        def size(key: str, default: int) -> int:
            return int(args.int(f"MODEL.{key}", default=default))

        usual = {
            "META_ARCHITECTURE": args.str("MODEL.META_ARCHITECTURE", default="GeneralizedRCNN") == "GeneralizedRCNN",
            "BACKBONE.NAME": args.str("MODEL.BACKBONE.NAME", default="") == _BUILDER,
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
            text = f"MODEL.RESNETS.DEPTH is {depth:,}, but must be one of {', '.join(map(str, _DEPTHS))}."
            raise args.error("unknown-kind", text, "MODEL.RESNETS.DEPTH")
        groups, out = size("RESNETS.NUM_GROUPS", 1), size("RESNETS.RES2_OUT_CHANNELS", 256)
        if not deep and (groups, out) != (1, 64):
            raise args.error(
                "not-described",
                f"MODEL.RESNETS.DEPTH {depth} needs 1 group and 64 channels after res2.",
                "MODEL.RESNETS.DEPTH",
            )
        built, read = (args.strs(f"MODEL.{key}") for key in ("RESNETS.OUT_FEATURES", "FPN.IN_FEATURES"))
        if not read or read != _STAGES[: len(read)] or not set(read) <= set(built) <= {"stem", *_STAGES}:
            text = "MODEL.FPN.IN_FEATURES must begin with res2, go up by one, and be among MODEL.RESNETS.OUT_FEATURES."
            raise args.error("unknown-kind", text, "MODEL.FPN.IN_FEATURES")
        means, spread = args.length("MODEL.PIXEL_MEAN"), args.length("MODEL.PIXEL_STD")
        if (means or _COLOURS) != (spread or _COLOURS):
            raise args.error("list-length", "MODEL.PIXEL_MEAN and MODEL.PIXEL_STD must be as long.", "MODEL.PIXEL_MEAN")
        return cls(
            depth=depth,
            groups=groups,
            channels=dim("C", means or _COLOURS),
            stem=dim("d_0", size("RESNETS.STEM_OUT_CHANNELS", 64)),
            out=dim("d_2", out),
            inner=dim("b_i", groups * size("RESNETS.WIDTH_PER_GROUP", 64)),
            width=dim("d_p", size("FPN.OUT_CHANNELS", 256)),
            built=max((_STAGES.index(name) + 1 for name in built if name in _STAGES), default=0),
            seen=len(read),
        )

    def tensors(self) -> Block:
        """Convolutions with norms that do not learn, stage by stage in bottom_up, and what is read of each.

        fpn_lateral{i} (width, channels, 1, 1) and fpn_output{i} (width, width, 3, 3), with biases.
        """
        before, out, inner, fpn = self.stem, self.out, self.inner, self.width
        children: dict[str, Node] = {}
        stages: dict[str, Node] = {"stem": block(conv1=_conv(self.channels, before, 7))}
        for number, name in enumerate(_STAGES[: self.built]):

            def layer(inputs: int, inner: int = inner, out: int = out) -> Block:
                way = [(inputs, inner, 1, 1), (inner, inner, 3, self.groups), (inner, out, 1, 1)]
                steps = way if self.depth >= _DEEP else [(inputs, out, 3, 1), (out, out, 3, 1)]
                named = {f"conv{place}": _conv(*step) for place, step in enumerate(steps, 1)}
                return Block(named | ({"shortcut": _conv(inputs, out, 1)} if inputs != out else {}))

            stages[name] = led(_DEPTHS[self.depth][number], layer(before), layer(out))
            if number < self.seen:
                children[f"fpn_lateral{number + 2}"] = conv(out, fpn, 1, bias=True)
                children[f"fpn_output{number + 2}"] = conv(fpn, fpn, 3, bias=True)
            before, out, inner = out, 2 * out, 2 * inner
        return Block({"bottom_up": Block(stages), **children})


def _conv(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    held = buffer(outputs)
    # Checkpoints trained with norms that learn count their batches.
    counted = obsolete(whole=True)
    norm = block("norm", weight=held, bias=held, running_mean=held, running_var=held, num_batches_tracked=counted)
    return altered(conv(inputs, outputs, side, groups=groups), norm=norm)
