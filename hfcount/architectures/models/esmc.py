"""ESM C: an encoder of proteins with rotary positions and gated networks (doi:10.1101/2024.07.01.600583)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, gqa, layer_norm, pre_norm, stack, swiglu
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.encoders import dense_classifier
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("esmc",)  # transformers 5.23: modeling_esmc.py

_HEADS = ("ForMaskedLM", "Model", "ForSequenceClassification", "ForTokenClassification")


def spec(c: Config) -> Spec:
    attention = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    if attention.kv_heads != attention.heads:
        text = "num_key_value_heads must be num_attention_heads."
        raise c.error(
            "contradiction", text, "num_key_value_heads", "Correct one of them.", expected=int(attention.heads)
        )
    layer = Layer(mixer=attention, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    return keys.decoder_spec(c, layer, heads=_HEADS).replace(causal=False, tied=False)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden, bias=False)

    def layer_block(layer: Layer) -> Block:
        attention = altered(gqa(d, layer.attention), q_norm=norm, k_norm=norm)  # over all heads at once
        return pre_norm(d, layer_norm, self_attn=attention, mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    dense, decoder = Linear(d, d, True), Linear(d, s.vocab, True)
    return headed(
        s,
        "esmc",
        block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=norm),
        masked_lm=block(lm_head=block("lm_head", dense=dense, layer_norm=layer_norm(d), decoder=decoder)),
        sequence_classification=block(classifier=dense_classifier(s)),
        token_classification=block(score=classifier(s)),
    )
