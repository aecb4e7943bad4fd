"""MiniMax-VL-01 as it was released: CLIP's tower and two projections before MiniMax-Text-01 (arXiv:2501.08313)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered
from hfcount.architectures.layers.composite import llava
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import printable

# minimax_vl_01.py of vllm-project/vllm 0.11.0, and the names in the index of MiniMaxAI/MiniMax-VL-01
MODEL_TYPES = ("minimax_vl_01",)
IGNORED = ("image_grid_pinpoints", "image_seq_length", "process_image_mode", "vision_feature_layer")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config", "minimax_text_01")
    vision = families.part(c, "vision_config")
    if vision.family != "clip_vision_model":
        other = printable(vision.family, 60)
        raise UnknownArchitecture(f"{c.where}: {c.family} is described with CLIP's tower, not {other}.")
    return keys.composite(c, text, {"vision": vision}, heads=("ForConditionalGeneration",))


def blueprint(s: Spec) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    tower = families.tower(s, "vision")
    projector = block("projector", linear_1=Linear(vision_width, d, True), linear_2=Linear(d, d, True))
    return llava(
        s,
        families.base(s),
        vision_tower=Block({"vision_model": altered(tower, post_layernorm=None)}, "vision", 0),  # stored without
        multi_modal_projector=projector,
        image_newline=Tensor((d,), component="projector"),
    )
