"""OpenCUA: Qwen2 with Qwen2.5-VL's vision tower beside it, for the use of computers (arXiv:2508.09123)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

# modeling_opencua.py of xlangai/OpenCUA-7B, opencua.py of vllm-project/vllm 0.33
MODEL_TYPES = ("opencua",)
CLASSES = ("OpenCUAForConditionalGeneration",)
IGNORED = ("use_1d_rope",)


def spec(c: Config) -> Spec:
    text, vision = _read(c, "text_config", "qwen2"), _read(c, "vision_config", "qwen2_5_vl_vision")
    if vision.output != text.hidden:
        message = (
            f"out_hidden_size of vision_config is {vision.output:,}, and hidden_size of text_config {text.hidden:,}."
        )
        c.cannot_run("contradiction", message, "vision_config", "Correct one of them.")
    heads = ("ForConditionalGeneration",)
    return keys.composite(c, text, {"vision": vision}, heads=heads).replace(tied=text.tied)


def _read(c: Config, key: str, kind: str) -> Spec:
    """A part, whose class is the implementation's, whatever the config says of it."""
    inner = c.part(key)
    inner.kind = kind
    return families.read(inner, kind)


def blueprint(s: Spec) -> Block:
    return block(
        language_model=rebased(families.tree(s.part("text").replace(head="causal_lm")), "language_model"),
        vision_tower=families.tower(s, "vision"),
    )
