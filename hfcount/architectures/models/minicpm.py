"""MiniCPM: Llama with scaled branches, which have no parameters (arXiv:2404.06395)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, network, numbered_swiglu, rms_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

# modeling_minicpm.py of openbmb/MiniCPM4-8B; with experts, as MiniCPM-MoE-8x2B has them, minicpm.py of
# vllm-project/vllm 0.33
MODEL_TYPES = ("minicpm",)
IGNORED = ("dim_model_base", "mup_denominator", "scale_emb")


def spec(c: Config) -> Spec:
    routed = c.int("num_experts", default=0, minimum=0) > 0
    ffn = keys.moe(c, "intermediate_size", experts=("num_experts",)) if routed else keys.dense(c)
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    heads = ("ForCausalLM", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), tied=True, heads=heads)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=gqa(d, layer.attention),
            mlp=network(d, layer, lambda m: moe(d, m, numbered_swiglu(d, m.width, "experts"))),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
