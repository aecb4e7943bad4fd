"""InternVL: InternViT, whose patches are merged and projected, before any language model (arXiv:2404.16821)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.models.intern_vit_6b import InternVit6b
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_internvl_chat.py of OpenGVLab/InternVL2-4B, modeling_h2ovl_chat.py of h2oai/h2ovl-mississippi-2b,
# modeling_skywork_chat.py of Skywork/Skywork-R1V2-38B, nvlm_d.py and skyworkr1v.py of vllm-project/vllm 0.33.0
MODEL_TYPES = ("internvl_chat", "h2ovl_chat", "skywork_chat", "NVLM_D")
CLASSES = ("SkyworkR1VChatModel",)
IGNORED = tuple(
    "dynamic_image_size force_image_size max_dynamic_patch min_dynamic_patch select_layer use_thumbnail".split()
)

_DUMMIES = 7  # heads that NVLM_D adds to its tower's, in its implementation


class InternvlChat(Sizes):
    merge: int
    plain: int | None  # the width of a projector without biases


def spec(c: Config) -> Spec[InternvlChat]:
    nvlm = c.family == "NVLM_D"
    key = "text_config" if nvlm and c.has("text_config") else "llm_config"
    text, vision = families.part(c, key), families.part(c, "vision_config", always="intern_vit_6b")
    if nvlm:  # eight ranks share its heads
        vision = vision.having(vision.sizes(InternVit6b).replace(dummies=_DUMMIES))
    merge = round(1 / c.share("downsample_ratio", default=0.5))
    plain = c.part(key).int("intermediate_size") if nvlm else None
    sizes = InternvlChat.read(c, merge=keys.derived_dim(c, "m", merge, "1 / {downsample_ratio}, rounded"), plain=plain)
    heads = keys.named(("Model",), NVLM_D="base")
    return keys.composite(c, text, {"vision": vision}, key=key, heads=heads).having(sizes)


def blueprint(s: Spec[InternvlChat]) -> Block:
    merged = s.own.merge * s.own.merge * s.part("vision").hidden
    between, bias = s.own.plain or s.hidden, s.own.plain is None
    wide, out = Linear(merged, between, bias), Linear(between, s.hidden, bias)
    return block(
        language_model=rebased(families.tree(s.part("text")), "language_model"),
        vision_model=families.tower(s, "vision"),
        mlp1=Block({"0": layer_norm(merged), "1": wide, "3": out}, "projector"),
    )
