"""FastVLM: a language model that sees with FastViT of timm, at few tokens an image (arXiv:2412.13303)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("fast_vlm",)  # transformers 5.23: modeling_fast_vlm.py
IGNORED = ("image_seq_length",)


class FastVlm(Sizes):
    hidden_size: int
    multimodal_projector_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[FastVlm]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    width = c.part("vision_config").int("hidden_size")
    if c.ints("vision_feature_layer", default=(-1,), alone=True) != [-1]:
        raise c.error(
            "not-described", "vision_feature_layer must be -1: the last layer is what is read.", "vision_feature_layer"
        )
    if c.str("vision_feature_select_strategy", default="full") != "full":
        raise c.error("not-described", "vision_feature_select_strategy must be full.", "vision_feature_select_strategy")
    if width != towers["vision"].hidden:
        message = f"hidden_size in vision_config is {width:,}, and its model gives {towers['vision'].hidden:,}."
        c.cannot_run("contradiction", message, "vision_config", "Correct it.")
    sizes = FastVlm.read(c, hidden_size=keys.dim("d_v", width))
    heads = ("ForConditionalGeneration", "Model")
    tied = keys.tied_anywhere(c, c.part("text_config"))
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(sizes)


def blueprint(s: Spec[FastVlm]) -> Block:
    d, bias = s.hidden, s.own.multimodal_projector_bias
    projector = block("projector", linear_1=Linear(s.own.hidden_size, d, bias), linear_2=Linear(d, d, bias))
    return towers_in_model(
        s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector
    )
