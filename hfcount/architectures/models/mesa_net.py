"""MesaNet: linear attention that solves for the best state at each token (arXiv:2506.05233)."""

from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import Around, around, convolutions
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config, flag
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("mesa_net",)  # layers/mesa_net.py of fla-org/flash-linear-attention 0.6.0
CLASSES = ("MesaNetForCausalLM", "MesaNetModel")
IGNORED = (
    *flash_linear.IGNORED,
    *("lambda_lower_bound", "max_cg_step_decoding", "max_cg_step_training", "use_short_conv"),
)

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 16,
    "head_dim": 128,
    "hidden_ratio": 4,
    "conv_size": 4,
}


class Mesa(Around):
    """Whether the output has a gate."""

    use_output_gate: bool = flag(absent=False)


def spec(c: Config) -> Spec[Mesa]:
    def own() -> Layer:
        heads, width = c.int("num_heads"), c.int("head_dim")
        kernel = c.int("conv_size")
        return Layer(mixer=DeltaNet(key_heads=heads, value_heads=heads, key_dim=width, value_dim=width, kernel=kernel))

    # It keeps two matrices for each head, one of keys alone.
    model = around(c, own, _ABSENT, uncounted=flash_linear.STATES)
    return model.having(Mesa.read(c))


def blueprint(s: Spec[Mesa]) -> Block:
    d, gated = s.hidden, s.own.use_output_gate

    def mixer(layer: Layer) -> Block:
        a = layer.mixer
        assert isinstance(a, DeltaNet)
        inner = a.key_heads * a.key_dim
        return block(
            "linear_attention",
            q_proj=Linear(d, inner),
            k_proj=Linear(d, inner),
            v_proj=Linear(d, inner),
            a_proj=Linear(d, a.key_heads, True),
            b_proj=Linear(d, a.key_heads, True),
            lambda_params=Tensor((inner,)),
            **convolutions(a.kernel, q=inner, k=inner),
            g_proj=Linear(d, inner) if gated else None,
            o_norm=rms_norm(a.key_dim),
            o_proj=Linear(inner, d),
        )

    return flash_linear.model(s, mixer)
