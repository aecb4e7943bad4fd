"""EXAONE 3 and 3.5: Llama's layers under GPT-2's names (arXiv:2408.03541, arXiv:2412.04862)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, rms_norm, stack, with_head
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("exaone",)  # modeling_exaone.py of LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct
# transformers 5.24 builds the type of Llama's classes, and writes their key (auto/modeling_auto.py).
RETYPED = {"exaone": ("rms_norm_eps", None, "llama")}


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, derived=True, indivisible="refused")
    width = c.int("intermediate_size", default=None) or 4 * c.int("hidden_size")
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width)), keys.layer_count(c, "num_layers"))
    heads = ("ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering")
    return keys.decoder_spec(c, layers, heads=heads, tied=True)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        into, out = Linear(d, layer.dense.width), Linear(layer.dense.width, d)
        return block(
            ln_1=rms_norm(d),
            attn=block(attention=gqa(d, layer.attention, out="out_proj")),
            ln_2=rms_norm(d),
            mlp=block("mlp", c_fc_0=into, c_fc_1=into, c_proj=out),
        )

    body = block(wte=embedding(s.vocab, d), h=stack(s.layers, layer_block), ln_f=rms_norm(d))
    return with_head(s, body, prefix="transformer", table="wte")
