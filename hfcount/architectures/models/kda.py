"""Kimi Delta Attention in all layers, as flash-linear-attention has it (arXiv:2510.26692)."""

from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import Around, around, convolutions, delta_heads
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config, flag
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("kda",)  # layers/kda.py of fla-org/flash-linear-attention 0.6.0
CLASSES = ("KDAForCausalLM", "KDAModel")
IGNORED = (*flash_linear.IGNORED, "lower_bound", "safe_gate")

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 16,
    "head_dim": 128,
    "expand_v": 1.0,
    "hidden_ratio": 4,
    "conv_size": 4,
}


class Kda(Around):
    """Whether projections have convolutions."""

    use_short_conv: bool = flag(absent=True)


def spec(c: Config) -> Spec[Kda]:
    if c.bool("safe_gate", default=False) and not c.given("lower_bound"):
        raise c.error("contradiction", "safe_gate needs a lower_bound.", "safe_gate", "Give one.")

    def own() -> Layer:
        return Layer(mixer=delta_heads(c, convolved=c.bool("use_short_conv", default=True)))

    model = around(c, own, _ABSENT)
    return model.having(Kda.read(c))


def blueprint(s: Spec[Kda]) -> Block:
    d, of = s.hidden, s.own

    def mixer(layer: Layer) -> Block:
        a = layer.mixer
        assert isinstance(a, DeltaNet)
        queries, values, decays = a.key_heads * a.key_dim, a.value_heads * a.value_dim, a.value_heads * a.key_dim
        return block(
            "linear_attention",
            q_proj=Linear(d, queries),
            k_proj=Linear(d, queries),
            v_proj=Linear(d, values),
            **convolutions(a.kernel if of.use_short_conv else None, q=queries, k=queries, v=values),
            f_proj=Block({"0": Linear(d, a.value_dim), "1": Linear(a.value_dim, decays)}),
            b_proj=Linear(d, a.value_heads),
            A_log=Tensor((a.value_heads,)),
            dt_bias=Tensor((decays,)),
            g_proj=Block({"0": Linear(d, a.value_dim), "1": Linear(a.value_dim, values, True)}),
            o_norm=rms_norm(a.value_dim),
            o_proj=Linear(values, d),
        )

    return flash_linear.model(s, mixer)
