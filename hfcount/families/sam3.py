"""SAM 3: finds and segments whatever a text or boxes name (arXiv:2511.16719)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.detection import numbered_mlp
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("sam3", "sam3_lite_text")  # transformers 5.23: modeling_sam3.py, modeling_sam3_lite_text.py

_PARTS = {"geometry": "geometry_encoder", "joint": "detr_encoder", "queries": "detr_decoder", "mask": "mask_decoder"}


def spec(c: Config) -> Spec:
    vision, text = families.part(c, "vision_config"), families.part(c, "text_config")
    if text.family == "clip_text_model":
        text = text.replace(head="projection", out=c.part("text_config").int("projection_dim"))
    parts = {name: families.part(c, f"{key}_config") for name, key in _PARTS.items()}
    return keys.encoding(
        c, (), hidden=keys.dim("d", parts["joint"].hidden), parts={"vision": vision, "language": text, **parts}
    )


def blueprint(s: Spec) -> Block:
    queries, text = s.parts["queries"], s.parts["language"]
    d, wide = queries.hidden, queries.layers[0].layer.dense.width
    inner = {name: families.tree(s.parts[key]) for key, name in _PARTS.items()}
    scoring = block(
        "other",
        text_mlp=numbered_mlp(d, wide, d),
        text_mlp_out_norm=layer_norm(d),
        text_proj=Linear(d, d, True),
        query_proj=Linear(d, d, True),
    )
    return Block(
        {
            "vision_encoder": families.tower(s, "vision"),
            "text_encoder": families.tree(text),
            "text_projection": Linear(text.hidden, s.hidden, True, "projector"),
            **inner,
            "dot_product_scoring": scoring,
        }
    )
