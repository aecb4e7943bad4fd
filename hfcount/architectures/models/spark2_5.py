"""Spark 2.5: one projection of queries, keys and values, a gate for each head's output, windows in most layers."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, pre_norm, rms_norm, stack, swiglu, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("spark2_5",)  # spark2_5.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("gate_attn_act_mode",)
SPELLINGS = {r"\bembed_tokens\.": "embedding."}


def spec(c: Config) -> Spec:
    if not c.bool("headwise_attn_output_gate", default=True):
        text = "headwise_attn_output_gate is false, and each head's output must have a gate."
        raise c.error("unknown-kind", text, "headwise_attn_output_gate", "Set it to true.")
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 4))
    return keys.decoder_spec(c, layer, tied=True, heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        attention = block(
            "attention",
            q_k_v_proj=fused_qkv(d, a),
            g_proj=Linear(d, a.heads, a.qkv_bias),
            out_proj=Linear(a.heads * a.head_dim, d, a.out_bias),
        )
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    body = block(embedding=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    return with_head(s, body, table="embedding")
