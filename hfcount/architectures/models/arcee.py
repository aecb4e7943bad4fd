"""Arcee AFM-4.5B: LLaMA with an ungated feed-forward network (https://huggingface.co/arcee-ai/AFM-4.5B)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, mlp, pre_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("arcee",)  # transformers 5.23: modeling_arcee.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            mlp=mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj"),
        )

    return decoder(s, layer_block, question_answering="transformer")
