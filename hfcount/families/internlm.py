"""LLaMA under types of its own: InternLM, whose attention has biases in all projections, Aquila and XVERSE."""

from hfcount import keys
from hfcount.families.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

# modeling_internlm.py of internlm/internlm-chat-7b, xverse.py of sgl-project/sglang 0.5.23, and the registry of models
# in vLLM 0.2.7, which has the class of Aquila among those of Llama
MODEL_TYPES = ("internlm", "aquila", "xverse")


def spec(c: Config) -> Spec:
    bias = c.family == "internlm" and c.bool("bias", default=True)
    mixer = keys.attention(c, bias=bias, alone=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)))
