"""Solar Open: balanced experts beside shared ones in every layer (Solar Open technical report)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, shared_moe
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("solar_open",)


def spec(c: Config) -> Spec:
    bias, width = c.bool("attention_bias", default=False), None if c.is_null("head_dim") else 128
    experts = ("n_routed_experts", "num_local_experts", "num_experts")
    ffn = keys.moe(c, "moe_intermediate_size", experts=experts, shared=("n_shared_experts",))
    return keys.decoder_spec(c, Layer(mixer=keys.attention(c, qkv_bias=bias, head_dim=width), ffn=ffn))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, one.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, one.moe, balanced=True),
        )

    return decoder(s, layer)
