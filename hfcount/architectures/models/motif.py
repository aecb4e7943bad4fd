"""Motif: attention as the difference of two, and a polynomial of norms as activation (arXiv:2508.09148)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

# motif.py of vllm-project/vllm 0.10.2, after modeling_motif.py of Motif-Technologies/Motif-2.6B
MODEL_TYPES = ("motif",)
CLASSES = ("MotifForCausalLM", "MotifForSequenceClassification")

_POWERS = 3
_LAMBDAS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")


def spec(c: Config) -> Spec:
    wide = c.bool("use_bias", default=False)
    out = c.bool("attention_bias", default=False) or wide
    c.choice("hidden_act", ("poly_norm",), default="poly_norm")
    mixer = keys.attention(c, qkv_bias=c.bool("qkv_bias", default=out), out_bias=out, alone=True)
    mixer = mixer.replace(values_per_head=2)
    for key, heads in (("num_attention_heads", mixer.heads), ("num_key_value_heads", mixer.kv_heads)):
        if heads % 2:
            raise c.error("not-divisible", f"{key} is {heads:,}, but must be even.", key, "Correct it.")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=wide)))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def attention(a: GQA) -> Block:
        vectors = dict.fromkeys(_LAMBDAS, Tensor((a.head_dim,)))
        return altered(gqa(d, a), **vectors, subln=rms_norm(2 * a.head_dim))

    def layer_block(layer: Layer) -> Block:
        powers = block(weight=Tensor((_POWERS,)), bias=Tensor((1,)))
        network = altered(swiglu(d, layer.dense.width, layer.dense.bias), act_fn=powers)
        return pre_norm(d, self_attn=attention(layer.attention), mlp=network)

    return decoder(s, layer_block)
