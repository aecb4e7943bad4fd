"""Qwen2-Audio: Whisper's encoder and one projection before Qwen2 (arXiv:2407.10759)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.audio import whisper
from hfcount.parts.composite import llava
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen2_audio",)


def spec(c: Config) -> Spec:
    part = c.part("text_config", defaults={"model_type": "qwen2"})
    text, _ = families.read(part)
    ears = keys.whisper(c.part("audio_config"))
    whole = keys.around(c, part, text, heads=("ForConditionalGeneration", "Model"), traits=ears)
    return whole.but(tied=False)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec) -> Block:
    projector = block("other", linear=Linear(s.traits["d"], s.hidden, bias=True))
    tower = whisper(**s.traits)
    return llava(s, families.base(s.text), audio_tower=tower, multi_modal_projector=projector)
