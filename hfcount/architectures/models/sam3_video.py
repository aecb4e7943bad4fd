"""SAM 3 for videos: a detector, and a tracker that takes its features through a neck of its own (arXiv:2511.16719)."""

from hfcount.architectures import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("sam3_video",)  # transformers 5.23: modeling_sam3_video.py
IGNORED = tuple(
    "low_res_mask_size hotstart_delay hotstart_unmatch_thresh hotstart_dup_thresh init_trk_keep_alive "
    "max_trk_keep_alive min_trk_keep_alive max_num_objects recondition_every_nth_frame recondition_on_trk_masks "
    "fill_hole_area suppress_unmatched_only_within_hotstart".split()
)
SPELLINGS = {r"^tracker_model\.(?!tracker_model\.)": "tracker_model.tracker_model."}


def spec(c: Config) -> Spec:
    detector, tracker = families.part(c, "detector_config"), families.part(c, "tracker_config")
    d = keys.dim("d", detector.hidden)
    return keys.encoding(c, (), hidden=d, parts={"detector": detector, "tracker": tracker})


def blueprint(s: Spec) -> Block:
    detector = families.tree(s.part("detector"))
    # A second neck, built as the detector's own.
    neck = families.tree(s.part("detector").part("vision")).children["neck"]
    assert isinstance(neck, Block), "the neck is a block"
    return block(
        detector_model=detector,
        tracker_model=families.tree(s.part("tracker")),
        tracker_neck=Block(neck.children, "vision", 0),
    )
