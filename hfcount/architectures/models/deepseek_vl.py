"""DeepSeek-VL: SigLIP's tower, in the larger one beside SAM's, before Llama's layers (arXiv:2403.05525)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# transformers 5.23: modeling_deepseek_vl.py, modeling_deepseek_vl_hybrid.py
MODEL_TYPES = ("deepseek_vl", "deepseek_vl_hybrid")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    if c.family == "deepseek_vl_hybrid":
        towers["high_res_vision"] = families.part(c, "high_res_vision_config")
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    tower = families.tower(s, "vision")
    if "high_res_vision" not in s.parts:
        aligner = block("projector", linear1=Linear(vision_width, d, True), linear2=Linear(d, d, True))
        return towers_in_model(s, families.base(s), vision_model=tower, aligner=aligner)
    fine = s.part("high_res_vision")
    out = fine.output
    neck = block(
        conv1=convolution(fine.hidden, out, 1, bias=False),
        layer_norm1=layer_norm(out),
        conv2=convolution(out, out, 3, bias=False),
        layer_norm2=layer_norm(out),
    )
    halves = block(conv1=convolution(out, 2 * out, 3, bias=False), conv2=convolution(2 * out, 4 * out, 3, bias=False))
    both = block(
        "projector",
        vision_proj=Linear(vision_width, d // 2, True),
        high_res_vision_proj=Linear(4 * out, d // 2, True),
        proj=Linear(d, d, True),
    )
    senses: dict[str, Node] = {
        "vision_model": tower,
        "high_res_vision_model": Block({"vision_encoder": families.tree(fine)}, "vision"),
        "high_res_vision_neck": Block(neck.children, "vision"),
        "high_res_vision_proj": Block(halves.children, "vision"),
        "high_res_vision_alpha": Tensor((1,), component="vision"),
        "aligner": both,
    }
    return towers_in_model(s, families.base(s), **senses)
