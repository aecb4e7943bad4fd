"""Qwen2-Audio: Whisper's encoder and one projection before Qwen2 (arXiv:2407.10759)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen2_audio",)  # transformers 5.23: modeling_qwen2_audio.py
SPELLINGS = inside("audio_tower", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"audio": families.part(c, "audio_config")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec) -> Block:
    projector = block("projector", linear=Linear(s.part("audio").hidden, s.hidden, bias=True))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
