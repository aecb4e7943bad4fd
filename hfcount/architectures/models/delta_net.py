"""DeltaNet: linear attention whose state is corrected by what it does not yet say (arXiv:2406.06484)."""

from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import Around, around, convolutions
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config, flag
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("delta_net",)  # layers/delta_net.py of fla-org/flash-linear-attention 0.6.0
CLASSES = ("DeltaNetForCausalLM", "DeltaNetModel")
IGNORED = (*flash_linear.IGNORED, "use_output_norm")

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 16,
    "expand_k": 1.0,
    "expand_v": 1.0,
    "hidden_ratio": 4,
    "conv_size": 4,
}


class Delta(Around):
    """Whether the rates of correction are learned, the output has a gate, and projections have convolutions."""

    use_beta: bool = flag(absent=True)
    use_gate: bool = flag(absent=False)
    use_short_conv: bool = flag(absent=True)


def spec(c: Config) -> Spec[Delta]:
    c.choice("qk_activation", ("silu", "relu", "elu", "identity"), default="silu")
    c.choice("qk_norm", ("l2", "sum"), default="l2")

    def own() -> Layer:
        a = flash_linear.grouped(c, convolved=c.bool("use_short_conv", default=True), sharing=False)
        mixer = DeltaNet(
            key_heads=a.heads, value_heads=a.heads, key_dim=a.key_dim, value_dim=a.value_dim, kernel=a.kernel or 1
        )
        return Layer(mixer=mixer)

    model = around(c, own, _ABSENT)
    return model.having(Delta.read(c))


def blueprint(s: Spec[Delta]) -> Block:
    d, of = s.hidden, s.own

    def mixer(layer: Layer) -> Block:
        a = layer.mixer
        assert isinstance(a, DeltaNet)
        keys, values = a.key_heads * a.key_dim, a.value_heads * a.value_dim
        return block(
            "linear_attention",
            q_proj=Linear(d, keys),
            k_proj=Linear(d, keys),
            v_proj=Linear(d, values),
            b_proj=Linear(d, a.key_heads) if of.use_beta else None,
            **convolutions(a.kernel if of.use_short_conv else None, q=keys, k=keys, v=values),
            g_proj=Linear(d, values) if of.use_gate else None,
            o_norm=rms_norm(a.value_dim),
            o_proj=Linear(values, d),
        )

    return flash_linear.model(s, mixer)
