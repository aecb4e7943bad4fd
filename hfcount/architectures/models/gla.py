"""Gated linear attention, and the retention network as the same library has it (arXiv:2312.06635, arXiv:2307.08621)."""

from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import STATES, Around, Grouped, around, convolutions
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

# layers/gla.py, layers/multiscale_retention.py of fla-org/flash-linear-attention 0.6.0
MODEL_TYPES = ("gla", "retnet")
CLASSES = ("GLAForCausalLM", "GLAModel", "RetNetForCausalLM", "RetNetModel")
IGNORED = (*flash_linear.IGNORED, "use_gk", "use_gv")

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 4,
    "expand_k": 0.5,
    "expand_v": 1.0,
    "hidden_ratio": 4,
    "conv_size": 4,
}
_RETENTION = {**_ABSENT, "num_heads": 8, "expand_k": 1.0, "expand_v": 2.0, "hidden_ratio": 2}
_RANK = 16
_WIDEST = 256  # of a head with rotary positions


class Gla(Around):
    """How the output is normalised: with a gate, which may be fused with the norm, and by a weight."""

    gated: bool
    fused: bool
    scaled: bool


def spec(c: Config) -> Spec[Gla]:
    kept = c.family == "retnet"  # whose convolutions no model of the library has
    if kept:
        c.without_effect("use_short_conv", "conv_size")

    def own() -> Layer:
        convolved = not kept and c.bool("use_short_conv", default=False)
        heads = flash_linear.grouped(c, convolved=convolved)
        if kept:
            flash_linear.rotated(c, heads.key_dim)
        if kept and heads.key_dim > _WIDEST:
            text = f"a head has {heads.key_dim:,} elements, but must have at most {_WIDEST}."
            raise c.error("out-of-range", text, "num_heads", "Correct it.", observed=int(heads.key_dim))
        return Layer(own=heads)

    model = around(c, own, _RETENTION if kept else _ABSENT, activations=("swish",), uncounted=STATES)
    gated = c.bool("use_output_gate", default=True)
    fused = gated and c.bool("fuse_norm", default=True)
    scaled = c.bool("elementwise_affine", default=True)
    return model.having(Gla.read(c, gated=gated, fused=fused, scaled=scaled))


def blueprint(s: Spec[Gla]) -> Block:
    d, of, kept = s.hidden, s.own, s.family == "retnet"

    def mixer(layer: Layer) -> Block:
        a = layer.sizes(Grouped)
        queries, keys, values = a.heads * a.key_dim, a.kv_heads * a.key_dim, a.kv_heads * a.value_dim
        norm = rms_norm(a.value_dim) if of.scaled else None
        forget: Node | None = None if kept else Block({"0": Linear(d, _RANK), "1": Linear(_RANK, keys, True)})
        return block(
            "linear_attention",
            q_proj=Linear(d, queries),
            k_proj=Linear(d, keys),
            v_proj=Linear(d, values),
            g_proj=Linear(d, a.heads * a.value_dim) if of.gated else None,
            **convolutions(a.kernel, q=queries, k=keys, v=values),
            gk_proj=forget,
            o_proj=Linear(a.heads * a.value_dim, d),
            g_norm_swish_gate=norm if of.fused else None,
            g_norm=None if of.fused else norm,
        )

    return flash_linear.model(s, mixer)
