"""IQuest-Coder: LLaMA with heads of a width of their own (https://huggingface.co/IQuestLab/IQuest-Coder-V1-40B-Instruct)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("iquestcoder",)


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, qkv_bias=bias, out_bias=bias, head_dim=width)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width, one.dense.bias),
        )

    return decoder(s, layer, question_answering="transformer")
