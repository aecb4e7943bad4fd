"""Qwen3-Next: Gated DeltaNet in three of four layers, else gated attention (card of Qwen3-Next-80B-A3B-Instruct)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gated_moe, gqa, network, rms_norm, with_draft
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.layers.mixers import gated_delta_net
from hfcount.mapper import Config
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("qwen3_next",)  # transformers 5.23: modeling_qwen3_next.py
PREDICTORS = ("Qwen3NextMTP", "Qwen3NextForCausalLMMTP")
MERGED = packed()


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    full = keys.attention(c, bias=bias, qk_norm=True, gated=True)
    places = keys.every_nth(c, "full_attention_interval", default=4)
    mixers = keys.mixed(c, full, keys.delta_net(c), keys.kinds(c), places)
    networks = keys.sparse_steps(c, full, keys.dense(c), lambda: keys.gated_moe(c))
    count, layer = "num_nextn_predict_layers", Layer(mixer=full, ffn=keys.gated_moe(c))
    # No published config has the key, and some checkpoints have the layers.
    drafts = keys.drafts(c, count, layer, default=1, announced=c.given(count))
    return keys.decoder_spec(c, keys.combined(mixers, networks), parts=drafts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        linear = gated_delta_net(d, mixer, fused=True) if isinstance(mixer, DeltaNet) else None
        return block(
            input_layernorm=rms_norm(d),
            linear_attn=linear,
            self_attn=None if linear else gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, layer, lambda m: gated_moe(d, m)),
        )

    return with_draft(s, lambda proper: decoder(proper, layer_block, question_answering="transformer"), layer_block)
