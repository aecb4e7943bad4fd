"""DiffLlama: LLaMA whose attention is the difference of two, weighed by four vectors (arXiv:2410.05258)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor

MODEL_TYPES = ("diffllama",)  # transformers 5.23: modeling_diffllama.py


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False)).replace(values_per_head=2)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        weigh = Tensor((layer.attention.head_dim,))
        return pre_norm(
            d,
            self_attn=altered(
                gqa(d, layer.attention), lambda_q1=weigh, lambda_k1=weigh, lambda_q2=weigh, lambda_k2=weigh
            ),
            mlp=swiglu(d, layer.dense.width),
        )

    return decoder(s, layer_block, question_answering="transformer")
