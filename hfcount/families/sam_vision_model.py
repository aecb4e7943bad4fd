"""SAM's vision tower, also GOT-OCR2's: attention within windows, everywhere in a few layers (arXiv:2304.02643)."""

from hfcount.keys.sam_tower import sam as sam_keys
from hfcount.mapper import Config
from hfcount.parts.sam_tower import sam
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

# transformers 5.23: modeling_sam.py, modeling_sam_hq.py, modeling_got_ocr2.py, modeling_slanext.py
MODEL_TYPES = ("sam_vision_model", "sam_hq_vision_model", "got_ocr2_vision", "pp_chart2table_vision", "slanext_vision")
IGNORED = ("num_pos_feats",)

_WRAPPED = ("sam_vision_model", "sam_hq_vision_model")  # when they stand alone


def spec(c: Config) -> Spec:
    return sam_keys(c, {"wrapped": c.family in _WRAPPED and not c.nested})


def blueprint(s: Spec) -> Block:
    body = sam(s)
    return block(vision_encoder=body) if s.traits["wrapped"] else body
