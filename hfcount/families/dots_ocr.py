"""dots.ocr: Qwen2 with a vision tower of its own (https://github.com/rednote-hilab/dots.ocr)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("dots_ocr",)  # modeling_dots_ocr.py of rednote-hilab/dots.ocr
IGNORED = ("attention_bias",)  # queries, keys and values always have biases


def spec(c: Config) -> Spec:
    text = families.read(c.as_part().varied("", {"architectures": None}), "qwen2")
    own = {"vision": families.part(c, "vision_config", "dots_vit"), "text": text}
    return keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), windows=text.windows, parts=own)


def blueprint(s: Spec) -> Block:
    text = families.tree(s.parts["text"].replace(head=s.head, tied=s.tied))
    return altered(text, vision_tower=families.tower(s, "vision"))
