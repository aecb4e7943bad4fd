"""Llama 4, the language model: a routed and a shared expert in every layer or some (Llama 4 model card)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import decoder, gqa, network, pre_norm, stacked, swiglu
from hfcount.spec import Layer, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("llama4_text",)  # transformers 5.23: modeling_llama4.py
IGNORED = ("no_rope_layer_interval", "no_rope_layers")
WITHIN = {"llama4_text": ("language_model.", "")}


def spec(c: Config) -> Spec:
    bias, every = c.bool("attention_bias", default=False), Indices.below(keys.layer_count(c))
    width = None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, bias=bias, head_dim=width)
    step, listed = c.int("interleave_moe_layer_step", default=1, minimum=1, maximum=MAX_LAYERS), c.ints("moe_layers")
    routed = Indices.of(
        (number for number in listed if number in every)
        if c.length("moe_layers") is not None
        else every.base[step - 1 :: step]
    )

    def experts() -> MoE:
        ffn = keys.moe(c, "intermediate_size")
        return ffn.replace(shared=ffn.width)

    def chunked() -> Indices:
        """The layers with rotary positions: those that no_rope_layers marks with a 1."""
        if marks := c.ints("no_rope_layers"):
            return keys.listing(c, "no_rope_layers", marks, 1, 0)[0]
        return keys.all_but_every_nth(c, 4, key="no_rope_layer_interval")

    windows = keys.sliding(c, chunked, default=8192, key="attention_chunk_size", kind="chunked_attention")
    layers = keys.networks(c, (every.difference(routed), routed), experts, mixer, width="intermediate_size_mlp")
    return keys.decoder_spec(c, layers, windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return block(
            router=Linear(d, m.experts, component="router"),
            experts=block("experts", gate_up_proj=stacked(m, d, 2 * m.width), down_proj=stacked(m, m.width, d)),
            shared_expert=swiglu(d, m.width),
        )

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), feed_forward=network(d, one, moe))

    return decoder(s, layer)
