"""MiniCPM: Llama with scaled branches, which have no parameters (arXiv:2404.06395)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("minicpm",)  # modeling_minicpm.py of openbmb/MiniCPM4-8B
IGNORED = ("dim_model_base", "mup_denominator", "scale_emb")


def spec(c: Config) -> Spec:
    if c.int("num_experts", default=0, minimum=0):
        raise UnknownArchitecture(f"{c.where}: num_experts is given, and no family describes MiniCPM's experts.")
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    heads = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            mlp=swiglu(d, layer.dense.width),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
