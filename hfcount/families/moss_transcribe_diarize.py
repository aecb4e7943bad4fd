"""MOSS Transcribe Diarize: Whisper's encoder and a projector before Qwen3 (https://huggingface.co/OpenMOSS-Team)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Undescribed

MODEL_TYPES = ("moss_transcribe_diarize",)


def spec(c: Config) -> Spec:
    part = c.part("text_config", defaults={"model_type": "qwen3"})
    text, _ = families.read(part)
    return keys.around(c, part, text, tied=True, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    why = Undescribed("the encoder of sound is not described")
    return joined(s, families.base(s.text), audio_tower=why, multi_modal_projector=why)
