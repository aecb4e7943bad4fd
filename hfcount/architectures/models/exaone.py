"""EXAONE 3 and 3.5: Llama's layers under GPT-2's names (arXiv:2408.03541, arXiv:2412.04862)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, rms_norm, stack, with_head
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_exaone.py of LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct; transformers 5.24 reads its config into Llama's classes
# under keys of its own, and saves its names (configuration_exaone.py, conversion_mapping.py).
MODEL_TYPES = ("exaone",)


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)  # which, as head_dim, only transformers' own class reads
    mixer = keys.attention(c, derived=not c.given("head_dim"), indivisible="refused", qkv_bias=bias, out_bias=bias)
    width = c.int("intermediate_size", default=None) or 4 * c.int("hidden_size")
    layers = keys.uniform(
        Layer(mixer=mixer, ffn=Dense(width=width, bias=c.bool("mlp_bias", default=False))),
        keys.layer_count(c, "num_layers", "num_hidden_layers"),
    )
    heads = ("ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering")
    return keys.decoder_spec(c, layers, heads=heads, tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, layer.dense.bias
        into, out = Linear(d, width, bias), Linear(width, d, bias)
        return block(
            ln_1=rms_norm(d),
            attn=block(attention=gqa(d, layer.attention, out="out_proj")),
            ln_2=rms_norm(d),
            mlp=block("mlp", c_fc_0=into, c_fc_1=into, c_proj=out),
        )

    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer_block), ln_f=rms_norm(d))
    return with_head(s, body, prefix="transformer", table="wte")
