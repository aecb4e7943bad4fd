"""Audio Flamingo 3 and Music Flamingo: Whisper's encoder and two projections before Qwen2 (arXiv:2507.08128)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_audioflamingo3.py, modeling_musicflamingo.py
MODEL_TYPES = ("audioflamingo3", "musicflamingo")
SPELLINGS = inside("audio_tower", "multi_modal_projector")


class Audioflamingo3(Sizes):
    projector_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[Audioflamingo3]:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    sizes = Audioflamingo3.read(c)
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False).having(sizes)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec[Audioflamingo3]) -> Block:
    d, bias = s.hidden, s.own.projector_bias
    first = Linear(s.part("audio").hidden, d, bias)
    projector = block("projector", linear_1=first, linear_2=Linear(d, d, bias))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
