"""LLaMA under types of its own: InternLM, whose attention has biases in all projections, Aquila, Solar Pro and more."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec

# modeling_internlm.py of internlm/internlm-chat-7b, xverse.py of sgl-project/sglang 0.5.23, and the registry of models
# in vLLM 0.2.7, which has the class of Aquila among those of Llama; solar.py, teleflm.py and openpangu.py of
# vllm-project/vllm 0.33.0; emu3/mllm/modeling_emu3.py of baaivision/Emu3; transformers/index/modeling.py of
# PaddlePaddle/PaddleFormers, which may normalise the head's matrix; models/skywork/model.py of NVIDIA/TensorRT-LLM
MODEL_TYPES = ("internlm", "aquila", "solar", "TeleFLM", "xverse", "PanguEmbedded", "Emu3", "index", "skywork")
IGNORED = tuple(
    "bskcn_1 bskcn_2 bskcn_3 bskcn_4 bskcn_tv image_area input_mult max_tokenizer_truncation mup_scale_factor norm_head"
    " output_mult use_mup".split()
)


def spec(c: Config) -> Spec:
    bias, wide = False, False
    if c.family == "internlm":
        bias = c.bool("bias", default=True)
    elif c.family in ("solar", "TeleFLM"):
        bias = c.bool("attention_bias", default=False) or c.bool("bias", default=False)
        wide = c.bool("mlp_bias", default=False)
    elif c.family == "PanguEmbedded":
        bias = c.bool("attention_bias", default=False) or c.bool("bias", default=not c.given("attention_bias"))
        wide = c.bool("mlp_bias", default=False)
    inner = c.bool("qkv_bias", default=bias) if c.family == "PanguEmbedded" else bias
    indivisible: keys.Indivisible = "refused" if c.family == "Emu3" else "run"
    mixer = keys.attention(c, qkv_bias=inner, out_bias=bias, alone=True, indivisible=indivisible)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=wide)))
