"""InternVL 3 as transformers has it: patches in squares, two projections, any language model (arXiv:2504.10479)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import LLAVA
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# transformers 5.23: modeling_internvl.py
# and, for Intern-S1, interns1.py of vllm-project/vllm 0.33.0
MODEL_TYPES = ("internvl", "interns1")
CLASSES = ("InternS1ForConditionalGeneration",)
SPELLINGS = LLAVA


class Internvl(Sizes):
    downsample_ratio: int


def spec(c: Config) -> Spec[Internvl]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    merged = keys.inverse(c, "m", "downsample_ratio", default=0.5)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, tied=True, heads=heads).having(Internvl.read(c, downsample_ratio=merged))


def blueprint(s: Spec[Internvl]) -> Block:
    d, side = s.hidden, s.own.downsample_ratio
    vision_width = side * side * s.part("vision").hidden
    projector = block(
        "projector",
        layer_norm=layer_norm(vision_width),
        linear_1=Linear(vision_width, d, True),
        linear_2=Linear(d, d, True),
    )
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), multi_modal_projector=projector)


class InternvlVision(Sizes):
    attention_bias: bool = flag()
    use_qk_norm: bool = flag()
    use_mask_token: bool = flag()
    use_mean_pooling: bool = flag()
    use_absolute_position_embeddings: bool = flag()
    rms_norm: bool


def vision_spec(c: Config) -> Spec[InternvlVision]:
    """InternVL's vision tower as transformers names it: a class token, a scale on each branch (arXiv:2504.10479)."""
    sizes = InternvlVision.read(c, rms_norm=c.choice("norm_type", ("layer_norm", "rms_norm")) == "rms_norm")
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1).having(sizes)


def vision_blueprint(s: Spec[InternvlVision]) -> Block:
    d, of, scale = s.hidden, s.own, Tensor((1, 1, s.hidden))
    norm = rms_norm(d) if of.rms_norm else layer_norm(d)
    into, normed = Linear(d, d, of.attention_bias), rms_norm(d) if of.use_qk_norm else None
    projections = block(q_proj=into, k_proj=into, v_proj=into, projection_layer=Linear(d, d, True)).children
    attention = block("attention", **projections, q_norm=normed, k_norm=normed)

    def layer_block(layer: Layer) -> Block:
        return block(
            attention=attention,
            mlp=mlp(d, layer.dense.width),
            layernorm_before=norm,
            layernorm_after=norm,
            lambda_1=Tensor((d,)),
            lambda_2=Tensor((d,)),
        )

    table = block(
        "embedding",
        cls_token=scale,
        mask_token=scale if of.use_mask_token else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)) if of.use_absolute_position_embeddings else None,
    )
    last = None if of.use_mean_pooling else layer_norm(d)
    return block(embeddings=table, encoder=block(layer=stack(s.layers, layer_block)), layernorm=last)


PARTS = (families.Family(("internvl_vision", "interns1_vision"), vision_spec, vision_blueprint),)
