"""HiFi-GAN as SpeechT5 and FastSpeech 2 use it: a spectrogram to a waveform (arXiv:2010.05646)."""

from hfcount.architectures import keys
from hfcount.architectures.components.vocoders import HiFiGAN
from hfcount.architectures.layers import altered
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, buffer

# transformers 5.23: modeling_speecht5.py, modeling_fastspeech2_conformer.py
MODEL_TYPES = ("speecht5_hifigan", "fastspeech2_conformer_hifigan", "hifigan")
IGNORED = ("upsample_rates", "sampling_rate", "normalize_before")


def spec(c: Config) -> Spec[HiFiGAN]:
    inputs = keys.dim("b", c.int("model_in_dim"))
    return keys.encoding(c, [], {"HifiGan": "base"}, hidden=inputs).having(HiFiGAN.read(c))


def blueprint(s: Spec[HiFiGAN]) -> Block:
    return altered(s.own.tensors(s.hidden), mean=buffer(s.hidden), scale=buffer(s.hidden))
