"""Voxtral: Whisper's encoder, four of whose frames make one token, before a language model (arXiv:2507.13264)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral",)  # transformers 5.23: modeling_voxtral.py
SPELLINGS = inside("audio_tower", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {"audio": families.part(c, "audio_config")}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec) -> Block:
    wide = s.part("audio").layers[0].layer.dense.width  # four frames of the tower's width make one token
    projector = block("projector", linear_1=Linear(wide, s.hidden), linear_2=Linear(s.hidden, s.hidden))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
