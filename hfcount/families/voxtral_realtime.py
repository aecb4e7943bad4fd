"""Voxtral Realtime: some frames of a causal encoder make one token of a language model (arXiv:2602.11298)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import llava
from hfcount.parts.conversions import inside
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("voxtral_realtime",)  # transformers 5.23: modeling_voxtral_realtime.py
IGNORED = ("audio_length_per_tok", "default_num_delay_tokens")
SPELLINGS = inside("audio_tower", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    traits = {"downsample_factor": keys.sized("m", c.int("downsample_factor", default=4))}
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=True)
    return keys.around(c, text, towers, heads=heads, traits=traits).but(tied=tied)


def blueprint(s: Spec) -> Block:
    wide = s.traits["downsample_factor"] * s.parts["audio"].hidden
    projector = block("projector", linear_1=Linear(wide, s.hidden), linear_2=Linear(s.hidden, s.hidden))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
