"""Muse Spark's language model: gated attention, narrower experts, a learned gate on each residual."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, correction_bias, gqa, rms_norm, stacked, swiglu
from hfcount.parts.ffn import router
from hfcount.spec import Dense, Layer, MoE, Record, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("muse_spark_text",)  # transformers 5.23: modeling_muse_spark.py


class MuseSparkExperts(Record):
    """The width of what the experts of a layer read."""

    hidden: int


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")

    def sparse() -> Layer:
        width = keys.dim("d_e", c.int("moe_hidden_size"))
        ffn = keys.moe(c, "moe_intermediate_size")
        return Layer(mixer=mixer, ffn=ffn, own=MuseSparkExperts(hidden=width))

    def dense() -> Layer:
        return Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size")))

    listed = c.strs("mlp_layer_types")
    layers = keys.by_kind(c, {"dense": dense, "sparse": sparse}, listed, "mlp_layer_types") if listed else None
    windows = keys.sliding(c, lambda: keys.but_every_nth_from_end(c, 4))
    layers = layers or keys.uniform(sparse(), keys.layer_count(c))
    return keys.decoder_spec(c, layers, heads=("Model",), windows=windows)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def experts(m: MoE, width: int) -> Block:
        up, down = stacked(m, 2 * m.width, width), stacked(m, width, m.width)
        return block(
            gate=altered(router(d, m), e_score_correction_bias=correction_bias(m)),
            pre_expert_proj=Linear(d, width, component="mlp"),
            pre_expert_norm=rms_norm(width),
            experts=block(gate_up_proj=up, down_proj=down, post_expert_norm=rms_norm(width)),
            post_expert_proj=Linear(width, d, component="mlp"),
        )

    def layer(one: Layer) -> Block:
        a, ffn = one.attention, one.ffn
        gate = block("other", gate=Tensor((d,)))
        return block(
            self_attn=altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim)),
            mlp=experts(ffn, one.sizes(MuseSparkExperts).hidden)
            if isinstance(ffn, MoE)
            else swiglu(d, one.dense.width),
            input_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
            post_attention_residual_gate=gate,
            post_feedforward_residual_gate=gate,
        )

    return base(s, layer)
