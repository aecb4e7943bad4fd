"""Audio Flamingo 3 and Music Flamingo: Whisper's encoder and two projections before Qwen2 (arXiv:2507.08128)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import inside
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_audioflamingo3.py, modeling_musicflamingo.py
MODEL_TYPES = ("audioflamingo3", "musicflamingo")
SPELLINGS = inside("audio_tower", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    traits = {"projector_bias": c.bool("projector_bias", default=True)}
    whole = keys.around(c, text, towers, heads=("ForConditionalGeneration", "Model"), traits=traits)
    return whole.but(tied=False)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec) -> Block:
    d, bias = s.hidden, bool(s.traits["projector_bias"])
    first = Linear(s.parts["audio"].hidden, d, bias)
    projector = block("projector", linear_1=first, linear_2=Linear(d, d, bias))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
