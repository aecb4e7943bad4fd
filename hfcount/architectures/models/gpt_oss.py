"""gpt-oss: attention with sinks, and experts with biases, stacked in one tensor per matrix (arXiv:2508.10925)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, router, stacked
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_gpt_oss.py, modeling_openai_privacy_filter.py
MODEL_TYPES = ("gpt_oss", "openai_privacy_filter")
IGNORED = ("initial_context_length",)


def spec(c: Config) -> Spec:
    width = None if c.is_null("head_dim") else 64
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=True), head_dim=width, sinks=True)
    ffn = keys.moe(c, "intermediate_size", active=("num_experts_per_tok", "experts_per_token"))
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 2), default=128)
    model = keys.decoder_spec(c, Layer(mixer=mixer, ffn=ffn), windows=windows)
    return model.replace(causal=c.family == "gpt_oss")  # the privacy filter also sees later tokens


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        m = layer.moe
        experts = block(
            "experts",
            gate_up_proj=stacked(m, d, 2 * m.width),
            gate_up_proj_bias=stacked(m, 2 * m.width),
            down_proj=stacked(m, m.width, d),
            down_proj_bias=stacked(m, d),
        )
        return pre_norm(
            d,
            self_attn=gqa(d, layer.attention),
            mlp=block(router=router(d, m, bias=True), experts=experts),
        )

    return decoder(s, layer_block)
