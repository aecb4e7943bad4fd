"""Qwen3-ASR: an encoder of spectrograms and two projections before Qwen3 (arXiv:2601.21337)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen3_asr",)  # transformers 5.23: modeling_qwen3_asr.py
CLASSES = ("Qwen3ASRRealtimeGeneration",)
_HEADS = keys.named(
    ("ForConditionalGeneration", "Model", "ForTokenClassification"), RealtimeGeneration="conditional_generation"
)


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    return keys.composite(c, text, towers, tied=True, heads=_HEADS)


def blueprint(s: Spec) -> Block:
    heard = s.part("audio")
    d = heard.hidden
    projector = block("projector", linear_1=Linear(d, d, True), linear_2=Linear(d, heard.out or d, True))
    return towers_in_model(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
