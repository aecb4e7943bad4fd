"""IQuest-Coder: LLaMA with heads of a width of their own (https://huggingface.co/IQuestLab/IQuest-Coder-V1-40B-Instruct)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

MODEL_TYPES = ("iquestcoder",)  # transformers 5.23: configuration_iquestcoder.py


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, bias=bias, head_dim=width, indivisible="refused")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))
