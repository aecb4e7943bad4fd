"""TIPS v2 with DPT's heads: depth, normals and segments of an image (arXiv:2410.16512, arXiv:2103.13413)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.depth import Levels
from hfcount.architectures.layers import backbones
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, part, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("tipsv2_dpt",)  # transformers 5.23: modeling_tipsv2_dpt.py
IGNORED = ("semantic_loss_ignore_index", "max_depth")
# DPT's heads as TIPS v2 names them.
SPELLINGS = {
    r"^vision_encoder\.": "backbone.",
    r"_neck\.reassemble_stage\.readout_projects\.(\d+)\.layers\.0\.": r"_head.reassemble.readout_projects.\1.",
    r"_neck\.reassemble_stage\.layers\.(\d+)\.projection\.": r"_head.reassemble.out_projections.\1.",
    r"_neck\.reassemble_stage\.layers\.(\d+)\.resize\.": r"_head.reassemble.resize_layers.\1.",
    r"_neck\.fusion_stage\.layers\.(\d+)\.projection\.": r"_head.fusion_blocks.\1.out_conv.",
    r"_neck\.fusion_stage\.layers\.(\d+)\.residual_layer1\.convolution": r"_head.fusion_blocks.\1.residual_unit.conv",
    r"_neck\.fusion_stage\.layers\.(\d+)\.residual_layer2\.convolution": r"_head.fusion_blocks.\1.main_unit.conv",
    r"_neck\.convs\.": "_head.convs.",
    r"_decoder\.project\.": "_head.project.",
    r"(depth|normals|segmentation)_decoder\.head\.": r"\1_head.\1_head.",
}

_TASKS = {
    "dense_prediction": ("depth", "normals", "segmentation"),
    "depth_estimation": ("depth",),
    "normal_estimation": ("normals",),
    "semantic_segmentation": ("segmentation",),
}
_HEADS = keys.named(
    ForDensePrediction="dense_prediction",
    ForDepthEstimation="depth_estimation",
    ForNormalEstimation="normal_estimation",
    ForSemanticSegmentation="semantic_segmentation",
)
HEADED = {
    head: {r"^neck\.": f"{tasks[0]}_neck.", r"^decoder\.": f"{tasks[0]}_decoder."}
    for head, tasks in _TASKS.items()
    if len(tasks) == 1
}

_DIRECTION = 3  # the numbers of a normal


class TipsV2Dpt(Sizes):
    levels: Levels = part(Levels)
    num_depth_bins: int = size("n_b")


def spec(c: Config) -> Spec[TipsV2Dpt]:
    backbone = backbones.only(c, families.backbone(c), "tipsv2_vision_model")
    sizes = TipsV2Dpt.read(c)
    d, why = sizes.levels.fusion_hidden_size, keys.COARSER
    return keys.imaging(c, (), _HEADS, hidden=d, parts={"backbone": backbone}, uncounted=why).having(sizes)


def _head(of: Levels, width: int, name: str, outputs: int) -> Block:
    """Features of all levels joined, and so many `outputs` for each place, called `name`."""
    d, levels = of.fusion_hidden_size, of.levels
    resized = {str(place): level for place, level in enumerate(levels) if level.factor is not None}
    sizes = {place: level.resizing() for place, level in resized.items()}
    reassemble = block(
        out_projections=Block({place: conv(width, level.width, 1, bias=True) for place, level in resized.items()}),
        resize_layers=Block({place: width for place, width in sizes.items() if width}),
        readout_projects=Repeat(Indices.below(len(levels)), Linear(2 * width, width, True)),
    )
    unit = block(conv1=conv(d, d, 3), conv2=conv(d, d, 3))
    joined = {
        str(place): block(out_conv=conv(d, d, 1, bias=True), residual_unit=unit if place else None, main_unit=unit)
        for place in range(len(levels))
    }
    parts = {
        "reassemble": reassemble,
        "convs": Block({str(place): conv(level.width, d, 3) for place, level in enumerate(levels)}),
        "fusion_blocks": Block(joined),
        "project": conv(d, d, 3, bias=True),
    }
    return Block({**parts, name: Linear(d, outputs, True)}, "other")


def blueprint(s: Spec[TipsV2Dpt]) -> Block:
    sizes, backbone = s.own, s.part("backbone")
    if s.head == "base":
        return families.tree(backbone)
    outputs = {"depth": sizes.num_depth_bins, "normals": _DIRECTION, "segmentation": s.labels}
    heads = {
        f"{task}_head": _head(sizes.levels, backbone.hidden, f"{task}_head", outputs[task]) for task in _TASKS[s.head]
    }
    return Block({"vision_encoder": families.tree(backbone), **heads})
