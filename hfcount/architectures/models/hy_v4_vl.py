"""Hunyuan 4 with a vision tower, whose patches convolutions merge (https://huggingface.co/tencent/Hy4)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.hunyuan_vision import RELEASED as VISION
from hfcount.architectures.components.hunyuan_vision import HunyuanVision, tower, with_tower
from hfcount.architectures.components.hy_v4 import RELEASED as TEXT
from hfcount.architectures.components.hy_v4 import HyV4, body, hy_v4_spec, last_mixing
from hfcount.architectures.layers import altered, rms_norm, with_head
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("hy_v4_vl",)  # transformers 5.24: modeling_hy_v4_vl.py
SPELLINGS = {**TEXT, **VISION, r"patch_merger\.norm\.": "patch_merger.before_rms."}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    tied = c.bool("tie_word_embeddings", default=False)
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=tied)


def blueprint(s: Spec) -> Block:
    return with_tower(s, families.base(s))


def text_spec(c: Config) -> Spec[HyV4]:
    """Hunyuan 4's language model, under the tower's names of what joins residual streams."""
    return hy_v4_spec(c)


def text_blueprint(s: Spec[HyV4]) -> Block:
    return with_head(s, altered(body(s), hc_head=block(hc_pre=last_mixing(s))))


def vision_spec(c: Config) -> Spec[HunyuanVision]:
    """Hunyuan 4's vision tower: patches with learnt places, merged by convolutions with a mark behind each row."""
    patches = keys.patches(c, merge=c.int("spatial_merge_size"))
    side = c.int("max_image_size") // patches.side
    made = keys.tower(c, patches=patches, positions=side * side + 1, out=c.int("out_hidden_size"))
    return made.replace(adapted=c.nested).having(HunyuanVision.read(c, within=c.nested))


def vision_blueprint(s: Spec[HunyuanVision]) -> Block:
    norm = {"norm" if s.own.within else "before_rms": rms_norm(s.hidden)}
    return tower(s, s.seen.merged(s.hidden), s.output, {**norm, "image_newline": Tensor((s.output,))})


PARTS = (
    families.Family(("hy_v4_vl_text",), text_spec, text_blueprint, spellings=TEXT),
    families.Family(("hy_v4_vl_vision",), vision_spec, vision_blueprint, ignored=("num_key_value_heads",)),
)
