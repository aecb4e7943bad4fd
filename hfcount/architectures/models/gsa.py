"""Gated slot attention: as many slots of memory for each head, whatever the context (arXiv:2409.07146)."""

from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import STATES, Around, Grouped, around, convolutions
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config, flag, optional
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("gsa",)  # layers/gsa.py of fla-org/flash-linear-attention 0.6.0
CLASSES = ("GSAForCausalLM", "GSAModel")
IGNORED = (*flash_linear.IGNORED, "use_norm", "use_output_gate", "expand_k", "expand_v")

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 4,
    "num_slots": 64,
    "exapnd_k": 1,
    "exapnd_v": 1,
    "hidden_ratio": 4,
    "conv_size": 4,
}
_FEATURES = ("swish", "relu", "t2r")
_FACTORS = ("exapnd_k", "exapnd_v")  # so the class spells them


class Gsa(Around):
    """How many slots a head has, and whether its features are mapped by a matrix and its output is scaled."""

    slots: int | None = optional("m", "num_slots")
    scaled: bool = flag("elementwise_affine", absent=True)
    mapped: bool


def spec(c: Config) -> Spec[Gsa]:
    def own() -> Layer:
        return Layer(own=flash_linear.grouped(c, convolved=c.bool("use_short_conv", default=False), names=_FACTORS))

    model = around(c, own, _ABSENT, uncounted=STATES)
    mapped = c.choice("feature_map", _FEATURES, default="swish") == "t2r"
    return model.having(Gsa.read(c, mapped=mapped))


def blueprint(s: Spec[Gsa]) -> Block:
    d, of = s.hidden, s.own

    def mixer(layer: Layer) -> Block:
        a = layer.sizes(Grouped)
        queries, keys, values = a.heads * a.key_dim, a.kv_heads * a.key_dim, a.kv_heads * a.value_dim
        slots = a.key_dim if of.slots is None else of.slots
        return block(
            "linear_attention",
            feature_map=block(layer=Linear(a.key_dim, a.key_dim)) if of.mapped else None,
            q_proj=Linear(d, queries),
            k_proj=Linear(d, keys),
            v_proj=Linear(d, values),
            f_proj=Linear(d, a.kv_heads * slots),
            **convolutions(a.kernel, q=queries, k=keys, v=values),
            g_norm=rms_norm(d) if of.scaled else None,
            o_proj=Linear(a.heads * a.value_dim, d),
        )

    return flash_linear.model(s, mixer)
