"""MOSS Transcribe Diarize: Whisper's encoder and a projector before Qwen3 (https://huggingface.co/OpenMOSS-Team)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Undescribed

MODEL_TYPES = ("moss_transcribe_diarize",)  # transformers 5.23: modeling_moss_transcribe_diarize.py


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    return keys.around(c, text, {}, tied=True, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    why = Undescribed("the encoder of sound is not described")
    return joined(s, families.base(s), audio_tower=why, multi_modal_projector=why)
