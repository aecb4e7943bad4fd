"""FastSpeech 2 with conformers, and the vocoder that makes a waveform of its spectrograms (arXiv:2006.04558)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("fastspeech2_conformer_with_hifigan",)  # transformers 5.23: modeling_fastspeech2_conformer.py


def spec(c: Config) -> Spec:
    text, parts = families.part(c, "model_config"), {"vocoder": families.part(c, "vocoder_config")}
    heads = keys.named(WithHifiGan="base")
    return keys.composite(c, text, parts, key="model_config", heads=heads).replace(tied=False)


def blueprint(s: Spec) -> Block:
    return block(model=families.base(s), vocoder=families.tree(s.parts["vocoder"]))
