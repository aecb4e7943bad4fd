"""ERNIE 4.5 VL: patches merged in space and in time before a language model with experts (ERNIE 4.5 report)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, rms_norm, with_head
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("ernie4_5_vl_moe",)  # transformers 5.23: modeling_ernie4_5_vl_moe.py
SPELLINGS = {
    r"vision_model\.": "vision_tower.",
    r"(spatial|temporal)_linear\.0\.": r"\1_linear.fc1.",
    r"(spatial|temporal)_linear\.2\.": r"\1_linear.fc2.",
    r"(spatial|temporal)_linear\.3\.": r"\1_linear.ln.",
    r"(?<!language_model\.)(?=(embed_tokens|layers)\.)": "language_model.",
    r"(?<!_)(?<!\w)(?<!language_model\.)norm\.": "language_model.norm.",
}


class Ernie45VlMoe(Sizes):
    """What this architecture alone has."""

    temporal_merge_size: int


def spec(c: Config) -> Spec[Ernie45VlMoe]:
    times = keys.dim("m_t", c.part("vision_config").int("temporal_merge_size"))
    text, parts = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, parts, heads=heads, tied=True).having(
        Ernie45VlMoe.read(c, temporal_merge_size=times)
    )


def blueprint(s: Spec[Ernie45VlMoe]) -> Block:
    vision = s.parts["vision"]
    merged = vision.seen.merged(vision.hidden)

    def linear(inputs: int) -> Block:
        return Block({"0": Linear(inputs, merged, True), "2": Linear(merged, merged, True), "3": layer_norm(merged)})

    resampler = block(
        "projector",
        spatial_linear=linear(merged),
        temporal_linear=linear(s.own.temporal_merge_size * merged),
        mlp=Linear(merged, s.hidden, True),
        after_norm=rms_norm(s.hidden),
    )
    senses = {"vision_model": families.tower(s, "vision"), "resampler_model": Block(resampler.children, "projector", 0)}
    return with_head(s, Block({**families.base(s).children, **senses}))
