"""Nemotron 3.5 Transcribe's ears: a recogniser's encoder, and a model of who speaks when (model card)."""

from hfcount import families, keys
from hfcount.families.nemotron3_diarization import Nemotron3Diarization
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("nemotron3_5_transcribe_audio",)  # transformers 5.23: modeling_nemotron3_5_transcribe.py


def spec(c: Config) -> Spec:
    said, who = families.part(c, "asr_config"), families.part(c, "diarization_config")
    return keys.encoding(c, [], hidden=said.hidden, parts={"audio": said, "diarization": who})


def blueprint(s: Spec) -> Block:
    who = s.parts["diarization"]
    return block(
        asr_encoder=families.tree(s.parts["audio"]),
        diarization_model=families.tree(who),
        asr_norm=layer_norm(s.hidden),
        speaker_norm=layer_norm(who.sizes(Nemotron3Diarization).num_speakers),
    )
