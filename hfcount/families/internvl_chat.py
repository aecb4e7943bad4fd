"""InternVL: InternViT, whose patches are merged and projected, before any language model (arXiv:2404.16821)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import rebased
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

# modeling_internvl_chat.py of OpenGVLab/InternVL2-4B, modeling_h2ovl_chat.py of h2oai/h2ovl-mississippi-2b,
# modeling_skywork_chat.py of Skywork/Skywork-R1V2-38B
MODEL_TYPES = ("internvl_chat", "h2ovl_chat", "skywork_chat")
IGNORED = ("dynamic_image_size", "max_dynamic_patch", "min_dynamic_patch", "select_layer", "use_thumbnail")


class InternvlChat(Sizes):
    merge: int


def spec(c: Config) -> Spec[InternvlChat]:
    text = families.part(c, "llm_config")
    towers = {"vision": families.part(c, "vision_config", always="intern_vit_6b")}
    merge = round(1 / c.share("downsample_ratio", default=0.5))
    own = InternvlChat.read(c, merge=keys.derived_dim(c, "m", merge, "1 / {downsample_ratio}, rounded"))
    return keys.composite(c, text, towers, key="llm_config", heads=("Model",)).having(own)


def blueprint(s: Spec[InternvlChat]) -> Block:
    merged = s.own.merge * s.own.merge * s.part("vision").hidden
    wide, square = Linear(merged, s.hidden, bias=True), Linear(s.hidden, s.hidden, bias=True)
    return block(
        language_model=rebased(families.tree(s.part("text")), "language_model"),
        vision_model=families.tower(s, "vision"),
        mlp1=Block({"0": layer_norm(merged), "1": wide, "3": square}, "projector"),
    )
