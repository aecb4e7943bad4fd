"""Voxtral: Whisper's encoder, four of whose frames make one token, before a language model (arXiv:2507.13264)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import inside
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral",)  # transformers 5.23: modeling_voxtral.py
SPELLINGS = inside("audio_tower", "multi_modal_projector")

# What absent keys of text_config mean: transformers 5.23, configuration_voxtral.py.
_TEXT = {
    "model_type": "llama",
    "vocab_size": 131072,
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 30,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
}


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config", defaults=_TEXT)
    towers = {"audio": families.part(c, "audio_config", "voxtral_encoder")}
    whole = keys.around(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return whole.but(tied=False)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec) -> Block:
    wide = s.parts["audio"].layers[0].layer.dense.width  # four frames of the tower's width make one token
    projector = block("projector", linear_1=Linear(wide, s.hidden), linear_2=Linear(s.hidden, s.hidden))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
