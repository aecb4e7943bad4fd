"""TIPS v2 with DPT's heads: depth, normals and segments of an image (arXiv:2410.16512, arXiv:2103.13413)."""

from hfcount import families, keys
from hfcount.keys.depth import leveled
from hfcount.mapper import Config
from hfcount.parts.depth import dense_head
from hfcount.parts.release_names import TIPS_HEADS
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("tipsv2_dpt",)  # transformers 5.23: modeling_tipsv2_dpt.py
IGNORED = ("semantic_loss_ignore_index", "max_depth")
SPELLINGS = TIPS_HEADS

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


def spec(c: Config) -> Spec:
    seen = keys.only(c, families.backbone(c), "tipsv2_vision_model")
    traits = {**leveled(c), "num_depth_bins": keys.sized("n_b", c.int("num_depth_bins"))}
    d, why = traits["fusion_hidden_size"], keys.COARSER
    return keys.imaging(c, (), _HEADS, hidden=d, parts={"backbone": seen}, traits=traits, uncounted=why)


def blueprint(s: Spec) -> Block:
    of, seen = s.traits, s.parts["backbone"]
    if s.head == "base":
        return families.tree(seen)
    outputs = {"depth": of["num_depth_bins"], "normals": _DIRECTION, "segmentation": s.labels}
    heads = {f"{task}_head": dense_head(s, seen.hidden, f"{task}_head", outputs[task]) for task in _TASKS[s.head]}
    return Block({"vision_encoder": families.tree(seen), **heads})
