"""MOSS Transcribe Diarize: Whisper's encoder, several of whose frames make one token, before Qwen3 (OpenMOSS-Team)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("moss_transcribe_diarize",)  # transformers 5.23: modeling_moss_transcribe_diarize.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    traits = {
        "audio_merge_size": keys.sized("m", c.int("audio_merge_size", default=4)),
        "projector_bias": c.bool("projector_bias", default=True),
    }
    whole = keys.around(c, text, towers, heads=("ForConditionalGeneration", "Model"), traits=traits)
    return whole.but(tied=c.bool("tie_word_embeddings", default=True))  # whatever text_config says


def blueprint(s: Spec) -> Block:
    d, bias = s.hidden, bool(s.traits["projector_bias"])
    wide = s.traits["audio_merge_size"] * s.parts["audio"].hidden
    linear, norm = Linear(d, d, bias), layer_norm(d)
    projector = block("projector", linear_1=Linear(wide, d, bias), linear_2=linear, norm=norm)
    return joined(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
