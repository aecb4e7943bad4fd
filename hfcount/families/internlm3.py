"""InternLM 3: LLaMA under other names of the switches for biases (https://huggingface.co/internlm/internlm3-8b-instruct)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("internlm3",)


def spec(c: Config) -> Spec:
    bias, width = c.bool("bias", "mlp_bias", default=False), None if c.is_null("head_dim") else 128
    qkv_bias = c.bool("qkv_bias", "attention_bias", default=False)
    mixer = keys.attention(c, qkv_bias=qkv_bias, out_bias=bias, head_dim=width)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)))


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
