"""Kolibri 1: attention over windows, and many small balanced experts in every layer, with norms on both sides."""

from hfcount.architectures import keys
from hfcount.architectures.layers import correction_bias, decoder, gqa, rms_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("kolibri1",)  # transformers 5.23: modeling_kolibri1.py
SPELLINGS = {
    r"moe\.router\.expert_bias$": "mlp.gate.e_score_correction_bias",
    r"post_attn_norm\.": "post_self_attn_layernorm.",
    r"post_ffn_norm\.": "post_mlp_layernorm.",
}
MERGED = packed()


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qk_norm=True), ffn=keys.gated_moe(c))
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 5), default=513)
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            input_layernorm=rms_norm(d),
            self_attn=gqa(d, layer.attention),
            post_attn_norm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=shared_moe(d, layer.moe),
            moe=block(router=block("router", expert_bias=correction_bias(layer.moe))),
            post_ffn_norm=rms_norm(d),
        )

    return decoder(s, layer_block)
