"""Command R7B and Command A: as Command R, most layers with a sliding window (arXiv:2504.00698)."""

from hfcount.architectures import keys
from hfcount.architectures.models.cohere import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices

MODEL_TYPES = ("cohere2", "cohere_compass_text")  # transformers 5.23: modeling_cohere2.py, modeling_cohere_compass.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    windows = keys.sliding(c, lambda: _near(c), default=4096)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, windows=windows)


def _near(c: Config) -> Indices:
    if c.family == "cohere_compass_text":
        return Indices.below(0)
    return keys.all_but_every_nth(c, 4, key="sliding_window_pattern")
