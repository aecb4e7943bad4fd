"""MOSS Transcribe Diarize: Whisper's encoder, several of whose frames make one token, before Qwen3 (OpenMOSS-Team)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("moss_transcribe_diarize",)  # transformers 5.23: modeling_moss_transcribe_diarize.py


class MossTranscribeDiarize(Sizes):
    audio_merge_size: int = size("m", absent=4)
    projector_bias: bool = flag(absent=True)


def spec(c: Config) -> Spec[MossTranscribeDiarize]:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    sizes = MossTranscribeDiarize.read(c)
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=c.bool("tie_word_embeddings", default=True)).having(sizes)  # whatever text_config says


def blueprint(s: Spec[MossTranscribeDiarize]) -> Block:
    d, bias = s.hidden, s.own.projector_bias
    wide = s.own.audio_merge_size * s.part("audio").hidden
    linear, norm = Linear(d, d, bias), layer_norm(d)
    projector = block("projector", linear_1=Linear(wide, d, bias), linear_2=linear, norm=norm)
    return towers_in_model(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
