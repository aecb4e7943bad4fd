"""Voxtral Realtime: some frames of a causal encoder make one token of a language model (arXiv:2602.11298)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import inside
from hfcount.spec import Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral_realtime",)  # transformers 5.23: modeling_voxtral_realtime.py
IGNORED = ("audio_length_per_tok", "default_num_delay_tokens")
SPELLINGS = inside("audio_tower", "multi_modal_projector")


class VoxtralRealtime(Sizes):
    """What this architecture alone has."""

    downsample_factor: int = size("m", absent=4)


def spec(c: Config) -> Spec[VoxtralRealtime]:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    own = VoxtralRealtime.read(c)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied).having(own)


def blueprint(s: Spec[VoxtralRealtime]) -> Block:
    wide = s.own.downsample_factor * s.parts["audio"].hidden
    projector = block("projector", linear_1=Linear(wide, s.hidden), linear_2=Linear(s.hidden, s.hidden))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
