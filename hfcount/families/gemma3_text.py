"""Gemma 3 without its vision tower: Gemma 2 with queries and keys normalised per head (arXiv:2503.19786)."""

from hfcount import keys
from hfcount.families.gemma2 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("gemma3_text",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, qk_norm=True, head_dim=256)
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 6, key="sliding_window_pattern"), 4096)
    whole = keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, windows=windows)
    return keys.seeing_both_ways(whole) if c.bool("use_bidirectional_attention", default=False) else whole
