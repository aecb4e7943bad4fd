"""Llama 4: its language model and a tower whose patches are merged (model card of Llama-4-Scout-17B-16E)."""

from hfcount import families, keys
from hfcount.families.llama4_vision_model import Llama4VisionModel
from hfcount.mapper import Config
from hfcount.parts import with_head
from hfcount.parts.composite import llava
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("llama4",)  # transformers 5.23: modeling_llama4.py


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"vision": families.part(c, "vision_config")}
    whole = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "ForCausalLM"))
    # The nested language model has its own head, so the outer tie_word_embeddings does not apply to it.
    return whole.replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    body = families.base(s)
    if s.head == "causal_lm":
        return with_head(s, body)
    projector = block(
        "projector", linear_1=Linear(s.parts["vision"].sizes(Llama4VisionModel).vision_output_dim, s.hidden)
    )
    return llava(s, body, vision_model=families.tower(s, "vision"), multi_modal_projector=projector)
