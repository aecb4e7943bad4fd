"""InternVL: InternViT, whose patches are merged and projected, before any language model (arXiv:2404.16821)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import rebased
from hfcount.parts.vision import internvit
from hfcount.spec import Spec, Vision
from hfcount.tree.nodes import Block, Linear, Node

MODEL_TYPES = ("internvl_chat",)
IGNORED = (
    "dynamic_image_size",
    "max_dynamic_patch",
    "min_dynamic_patch",
    "select_layer",
    "use_flash_attn",
    "use_thumbnail",
)


def spec(c: Config) -> Spec:
    part, eyes = c.part("llm_config"), c.part("vision_config")
    text, _ = families.read(part)
    side = eyes.int("patch_size")
    along = eyes.int("image_size") // side
    switches = {
        "norm_rms": int(eyes.str("norm_type", default="layer_norm") == "rms_norm"),
        "qkv_bias": int(eyes.bool("qkv_bias", default=False)),
        "qk_normalization": int(eyes.bool("qk_normalization", default=True)),
    }
    vision = Vision(
        hidden=keys.seeing(eyes),
        layers=eyes.int("num_hidden_layers", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(side, side),
        channels=eyes.int("num_channels", default=3),
        positions=along * along + 1,
        merge=round(1 / c.share("downsample_ratio", default=0.5)),
        traits=switches,
    )
    return keys.around(c, part, text, heads=("Model",), vision=vision)


def blueprint(s: Spec) -> Block:
    eyes = s.eyes
    merged = eyes.merge * eyes.merge * eyes.hidden
    projector: dict[str, Node] = {
        "0": layer_norm(merged),
        "1": Linear(merged, s.hidden, bias=True),
        "3": Linear(s.hidden, s.hidden, bias=True),
    }
    return Block(
        {
            "language_model": rebased(families.whole(s.text), "language_model"),
            "vision_model": internvit(eyes, **{name: bool(eyes.traits[name]) for name in eyes.traits}),
            "mlp1": Block(projector, "vision"),
        }
    )
