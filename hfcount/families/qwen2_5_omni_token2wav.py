"""Qwen2.5-Omni's way from codes to sound: a diffusion transformer, then BigVGAN (arXiv:2503.20215)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("qwen2_5_omni_token2wav",)  # transformers 5.23: modeling_qwen2_5_omni.py


def spec(c: Config) -> Spec:
    mels = families.part(c, "dit_config")
    parts = {"mels": mels, "waves": families.part(c, "bigvgan_config")}
    return keys.encoding(c, mels.layers, hidden=mels.hidden, parts=parts)


def blueprint(s: Spec) -> Block:
    mels, waves = families.tree(s.parts["mels"]), families.tree(s.parts["waves"])
    return block(code2wav_dit_model=mels, code2wav_bigvgan_model=waves)
