"""SAM's vision tower, also GOT-OCR2's: attention within windows, everywhere in a few layers (arXiv:2304.02643)."""

from hfcount.architectures.components.sam import SamTower, sam_tower
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_sam.py, modeling_sam_hq.py, modeling_got_ocr2.py, modeling_slanext.py
MODEL_TYPES = ("sam_vision_model", "sam_hq_vision_model", "got_ocr2_vision", "pp_chart2table_vision", "slanext_vision")
IGNORED = ("intermediate_size", "num_pos_feats", "projection_dim")

_WRAPPED = ("sam_vision_model", "sam_hq_vision_model")  # when they stand alone


class SamVisionModel(Record):
    """What the tower of a model has; `wrapped` if it stands within a model of its own."""

    tower: SamTower
    wrapped: bool


def spec(c: Config) -> Spec[SamVisionModel]:
    model = sam_tower(c)
    return model.having(SamVisionModel(tower=model.own, wrapped=c.family in _WRAPPED and not c.nested))


def blueprint(s: Spec[SamVisionModel]) -> Block:
    body = s.own.tower.tensors(s)
    return block(vision_encoder=body) if s.own.wrapped else body
