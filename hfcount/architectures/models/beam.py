"""Beam: gated attention over windows, and balanced experts after a few dense layers, with norms on both sides."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, network, rms_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("beam",)  # transformers 5.24: modeling_beam.py
MERGED = packed()


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    places = keys.dense_and_sparse(c, default=3)
    layers = keys.networks(c, places, lambda: keys.moe(c, "moe_intermediate_size"), mixer)
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 6, last=True), default=512)
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model", "ForTokenClassification"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim), gate_bias=Tensor((a.heads,))),
            post_attention_layernorm=rms_norm(d),
            pre_feedforward_layernorm=rms_norm(d),
            mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True)),
            post_feedforward_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
