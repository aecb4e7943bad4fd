"""Trinity (AFMoE): gated attention, four norms a layer, experts beside shared ones (Trinity model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, experts, gqa, network, rms_norm, swiglu
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("afmoe",)  # transformers 5.23: modeling_afmoe.py
MERGED = packed()


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    mixer = keys.attention(c, bias=bias, qk_norm=True, head_dim=width)
    places = keys.dense_and_sparse(c, "num_dense_layers", listed=None)

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", shared=("num_shared_experts",))

    layers = keys.networks(c, places, experts, mixer)
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 4, key="global_attn_every_n_layers"), default=1024)
    return keys.decoder_spec(c, layers, windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def moe(m: MoE) -> Block:
        return block(
            router=block("router", gate=Linear(d, m.experts)),
            expert_bias=Tensor((m.experts,), component="router"),
            experts=experts(m, swiglu(d, m.width, component="experts")),
            shared_experts=None if m.shared is None else swiglu(d, m.shared),
        )

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        return block(
            input_layernorm=rms_norm(d),
            self_attn=altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim)),
            post_attention_layernorm=rms_norm(d),
            pre_mlp_layernorm=rms_norm(d),
            mlp=network(d, layer, moe),
            post_mlp_layernorm=rms_norm(d),
        )

    return decoder(s, layer_block)
