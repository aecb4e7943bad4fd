"""GLM-ASR: an encoder of spectrograms, several frames to a token, before Llama (https://huggingface.co/zai-org)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import inside
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("glmasr",)  # transformers 5.23: modeling_glmasr.py
SPELLINGS = inside("audio_tower", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    d, wide = s.hidden, s.parts["audio"].layers[0].layer.dense.width  # several frames as wide make one token
    projector = block("projector", linear_1=Linear(wide, 2 * d, True), linear_2=Linear(2 * d, d, True))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
