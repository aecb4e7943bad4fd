"""Gemma 3 without its vision tower: Gemma 2 with queries and keys normalised per head (arXiv:2503.19786)."""

from hfcount.architectures import keys
from hfcount.architectures.models.gemma2 import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("gemma3_text",)  # transformers 5.23: modeling_gemma3.py
CLASSES = ("EmbeddingGemmaModel",)
IGNORED = ("_sliding_window_pattern",)


def spec(c: Config) -> Spec:
    mixer = keys.attention(
        c, bias=c.bool("attention_bias", default=False), qk_norm=True, head_dim=256, indivisible="refused"
    )
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 6, key="sliding_window_pattern"), default=4096)
    model = keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, windows=windows)
    return keys.seeing_both_ways(model) if c.bool("use_bidirectional_attention", default=False) else model
