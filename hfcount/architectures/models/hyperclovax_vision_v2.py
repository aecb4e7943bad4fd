"""HyperCLOVA X SEED with vision: Qwen2.5-VL's tower and one projection (https://huggingface.co/naver-hyperclovax)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear

MODEL_TYPES = ("hyperclovax_vision_v2",)  # transformers 5.23: modeling_hyperclovax_vision_v2.py
CLASSES = ("HCXVisionV2ForCausalLM",)
SPELLINGS = {
    r"^model\.language_model\.lm_head\.": "lm_head.",
    r"^model\.language_model\.model\.": "model.language_model.",
    r"^model\.vision_projector\.": "model.projector.",
}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    heads = keys.named(("ForConditionalGeneration", "Model"), HCXVisionV2ForCausalLM="conditional_generation")
    return keys.composite(c, text, towers, tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    vision = s.part("vision")
    projector = Linear(vision.out or vision.hidden, s.hidden, True, "projector")
    # The base model alone is saved under the names of the reference.
    name = "projector" if s.head == "base" else "vision_projector"
    body = towers_in_model(s, families.base(s), vision_model=families.tower(s, "vision"), **{name: projector})
    return body if s.head == "base" or s.tied else _saved(body)


def _saved(body: Block) -> Block:
    """The head within the language model, where it is saved if it is one of its own."""
    inner, head = body.children["model"], body.children["lm_head"]
    assert isinstance(inner, Block)
    text = inner.children["language_model"]
    assert isinstance(text, Block)
    text = text.replace(children={**text.children, "lm_head": head})
    return Block({"model": inner.replace(children={**inner.children, "language_model": text})})
