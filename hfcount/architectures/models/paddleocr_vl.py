"""PaddleOCR-VL: SigLIP's tower, squares of patches, two projections, a small ERNIE (arXiv:2510.14528)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("paddleocr_vl",)  # transformers 5.23: modeling_paddleocr_vl.py
SPELLINGS = {
    r"^mlp_AR\.": "model.projector.",
    r"^(visual\.|language_model\.(?!model\.))": r"model.\1",
    r"^model\.(?!visual\.|projector\.|language_model\.)": "model.language_model.",
}


class PaddleocrVl(Sizes):
    spatial_merge_size: int


def spec(c: Config) -> Spec[PaddleocrVl]:
    # Published configs have its keys beside the others.
    inner = c.sub("text_config") or c.as_part("text_config").varied("", {"architectures": None})
    text, towers = families.read(inner, inner.kind), {"vision": families.part(c, "vision_config")}
    merge = c.part("vision_config").int("spatial_merge_size", default=2)
    sizes = PaddleocrVl.read(c, spatial_merge_size=keys.dim("m", merge))
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=keys.tied_anywhere(c, inner, default=True)).having(sizes)


def blueprint(s: Spec[PaddleocrVl]) -> Block:
    vision_width, side = s.part("vision").hidden, s.own.spatial_merge_size
    wide = side * side * vision_width
    projector = block(
        "projector",
        pre_norm=layer_norm(vision_width),
        linear_1=Linear(wide, wide, True),
        linear_2=Linear(wide, s.hidden, True),
    )
    # The base model alone is saved under the names of the reference.
    name = "projector" if s.head == "base" else "mlp_AR"
    return towers_beside_model(s, families.base(s), visual=families.tower(s, "vision"), **{name: projector})
