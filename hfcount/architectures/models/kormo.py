"""KORMo: LLaMA whose norms are named after what follows them (arXiv:2510.09426)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

# modeling_kormo.py of KORMo-Team/KORMo-10B-base
MODEL_TYPES = ("kormo",)
CLASSES = (
    *("KORMoForCausalLM", "KORMoModel", "KORMoForSequenceClassification", "KORMoForTokenClassification"),
    "KORMoForQuestionAnswering",
)


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused", alone=True)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            pre_attention_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            pre_mlp_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width, layer.dense.bias),
        )

    return decoder(s, layer_block, question_answering="transformer")
