"""Gated DeltaNet, DeltaProduct and Comba as flash-linear-attention has them (arXiv:2412.06464, arXiv:2502.10297)."""

from hfcount.architectures import keys
from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import Around, around, convolutions, delta_heads
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# layers/gated_deltanet.py, layers/gated_deltaproduct.py, layers/comba.py of fla-org/flash-linear-attention 0.6.0
MODEL_TYPES = ("gated_deltanet", "gated_deltaproduct", "comba")
CLASSES = (
    *("GatedDeltaNetForCausalLM", "GatedDeltaNetModel", "CombaForCausalLM", "CombaModel"),
    *("GatedDeltaProductForCausalLM", "GatedDeltaProductModel"),
)
IGNORED = (*flash_linear.IGNORED, "correction_factor", "use_output_correction", "use_inner_decay")

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 21,
    "num_heads": 6,
    "head_dim": 256,
    "expand_v": 2.0,
    "hidden_ratio": 4,
    "conv_size": 4,
}


class GatedDelta(Around):
    """What the layers have beside projections; `steps` are the corrections of the state for each token."""

    gated: bool
    forgets: bool
    convolved: bool
    decays: bool
    steps: int


def spec(c: Config) -> Spec[GatedDelta]:
    several, convolved = c.family == "gated_deltaproduct", c.bool("use_short_conv", default=True)

    def own() -> Layer:
        return Layer(mixer=delta_heads(c, convolved=convolved, sharing=not several))

    model = around(c, own, _ABSENT)
    sizes = GatedDelta.read(
        c,
        gated=c.bool("use_gate" if c.family == "gated_deltanet" else "use_output_gate", default=True),
        forgets=c.bool("use_forget_gate", default=False) if several else True,
        convolved=convolved,
        decays=c.family == "comba",
        steps=keys.dim("n_h", c.int("num_householder", default=1)) if several else 1,
    )
    return model.having(sizes)


def blueprint(s: Spec[GatedDelta]) -> Block:
    d, of = s.hidden, s.own

    def mixer(layer: Layer) -> Block:
        a = layer.mixer
        assert isinstance(a, DeltaNet)
        queries, values, each = a.key_heads * a.key_dim, a.value_heads * a.value_dim, Tensor((a.value_heads,))
        kernel = a.kernel if of.convolved else None
        return block(
            "linear_attention",
            q_proj=Linear(d, queries),
            k_proj=Linear(d, of.steps * queries),
            v_proj=Linear(d, of.steps * values),
            a_proj=Linear(d, a.value_heads) if of.forgets else None,
            b_proj=Linear(d, of.steps * a.value_heads),
            decay=Tensor((a.key_heads,)) if of.decays else None,
            D=Tensor((a.key_heads,)) if of.decays else None,
            A_log=each if of.forgets else None,
            dt_bias=each if of.forgets else None,
            **convolutions(kernel, q=queries, k=of.steps * queries, v=of.steps * values),
            g_proj=Linear(d, values) if of.gated else None,
            o_norm=rms_norm(a.value_dim),
            o_proj=Linear(values, d),
        )

    return flash_linear.model(s, mixer)
