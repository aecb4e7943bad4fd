"""Step3-VL-10B: Qwen3 with the perception encoder of Step 3.7, whose grid two convolutions halve (arXiv:2601.09668)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.step import layers_and_downsamplers
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# step_vl.py of vllm-project/vllm 0.33, step3_vl_10b.py of sgl-project/sglang 0.5.23, whose class takes Qwen3 alone
MODEL_TYPES = ("step_robotics",)
CLASSES = ("StepVLForConditionalGeneration",)
IGNORED = ("understand_projector_stride", "num_channels", "ues_cls_token")

_COLOURS, _WIDER = 3, 4  # whatever the config says
# configuration_step_vl.py of stepfun-ai/Step3-VL-10B
_SEEN = {
    "width": 1536,
    "layers": 47,
    "heads": 16,
    "image_size": 728,
    "mlp_ratio": 8960 / 1536,
    "patch_size": 14,
    "use_cls_token": False,
    "use_ln_pre": True,
    "use_ln_post": False,
    "use_abs_posemb": True,
    "ls_init_value": 0.1,
}


class StepRobotics(Sizes):
    projector_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[StepRobotics]:
    text, vision = (families.part(c, "text_config", "qwen3"), families.part(c, "vision_config", "step_robotics_vision"))
    model = keys.composite(c, text, {"vision": vision}, heads=("ForConditionalGeneration",))
    return model.replace(tied=text.tied).having(StepRobotics.read(c))  # the language model says it for the whole


def blueprint(s: Spec[StepRobotics]) -> Block:
    projector = Linear(_WIDER * s.part("vision").hidden, s.hidden, s.own.projector_bias, "projector")
    tower = families.tower(s, "vision")
    return towers_beside_model(s, families.base(s), vision_model=tower, vit_large_projector=projector)


class StepRoboticsVision(Sizes):
    """Sizes specific to the tower, and the number of places along a side."""

    patch_size: int = size("p")
    use_cls_token: bool = flag()
    use_ln_pre: bool = flag()
    use_ln_post: bool = flag()
    use_abs_posemb: bool = flag()
    scaled: bool
    places: int


def vision_spec(c: Config) -> Spec[StepRoboticsVision]:
    """Step3-VL-10B's vision tower: CLIP's layers, by its first names, with a scale on each branch."""
    c = c.assuming(_SEEN)
    d = c.int("width")
    if not c.bool("use_rope2d", default=True):
        c.cannot_run("contradiction", "use_rope2d is false, and it must be true.", "use_rope2d", "Set it to true.")
    scaled = not c.is_null("ls_init_value") and c.number("ls_init_value", zero=True) >= 0
    sizes = StepRoboticsVision.read(c, scaled=scaled, places=keys.squares(c))
    model = keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        heads=("heads",),
        depth=("layers",),
        indivisible="built",
    )
    return model.having(sizes)


def vision_blueprint(s: Spec[StepRoboticsVision]) -> Block:
    d, of = s.hidden, s.own
    marked = Tensor((d,), component="embedding")
    rows = of.places + of.use_cls_token
    return block(
        conv1=convolution(_COLOURS, d, of.patch_size, bias=False),
        class_embedding=marked if of.use_cls_token else None,
        positional_embedding=Tensor((rows, d), component="embedding") if of.use_abs_posemb else None,
        ln_pre=layer_norm(d) if of.use_ln_pre else None,
        ln_post=layer_norm(d) if of.use_ln_post else None,
        **layers_and_downsamplers(s, of.scaled),
    )


PARTS = (families.Family(("step_robotics_vision",), vision_spec, vision_blueprint),)
