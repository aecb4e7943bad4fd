"""DiffusionGemma's encoder of text: Gemma 4's layers with experts (https://huggingface.co/google)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import base, rms_norm, swiglu
from hfcount.parts.gemma import experts_beside, lending_attention
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.tree.nodes import Block, block, buffer

MODEL_TYPES = ("diffusion_gemma_text",)  # transformers 5.23: modeling_diffusion_gemma.py


class DiffusionGemmaTextLayer(Record):
    """What its layers alone have."""

    values: int


def spec(c: Config) -> Spec:
    bias, placed = c.bool("attention_bias", default=False), keys.local_and_global(c, period=6)
    ffn = keys.moe(c, "moe_intermediate_size", active=("top_k_experts",)).replace(shared=c.int("intermediate_size"))
    layers = [
        Layers(indices=indices, layer=Layer(mixer=mixer, ffn=ffn, own=DiffusionGemmaTextLayer(values=local)))
        for indices, local, mixer in keys.attention_by_place(c, placed, bias, same=True)
    ]
    size = keys.extent(c, "sliding_window", default=512)
    windows = [window for indices, local in placed if local and size for window in keys.within(indices, size)]
    whole = keys.decoder_spec(c, layers, heads=("Model",), windows=tuple(windows))
    return keys.seeing_both_ways(whole) if c.str("use_bidirectional_attention", default="") == "all" else whole


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer(one: Layer) -> Block:
        named = block(
            self_attn=lending_attention(d, one.attention, bool(one.sizes(DiffusionGemmaTextLayer).values)),
            mlp=swiglu(d, one.moe.shared or 0),
            input_layernorm=norm,
            post_attention_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
            layer_scalar=buffer(1),
        )
        return Block({**named.children, **experts_beside(d, one.moe)})

    return base(s, layer)
