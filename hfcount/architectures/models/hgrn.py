"""Gated linear recurrences that forget no more than a bound, and LightNet (arXiv:2311.04823, arXiv:2404.07904)."""

from hfcount.architectures import keys
from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import STATES, Around, around, convolutions
from hfcount.architectures.layers import rms_norm
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# layers/hgrn.py, layers/hgrn2.py, layers/lightnet.py of fla-org/flash-linear-attention 0.6.0
MODEL_TYPES = ("hgrn", "hgrn2", "lightnet")
CLASSES = (
    *("HGRNForCausalLM", "HGRNModel", "HGRN2ForCausalLM", "HGRN2Model"),
    *("LightNetForCausalLM", "LightNetModel"),
)
IGNORED = flash_linear.IGNORED

_ABSENT = {"vocab_size": 32000, "hidden_size": 2048, "num_hidden_layers": 24, "hidden_ratio": 4, "conv_size": 4}
_ABSENT_RATIO = {"hgrn": 1, "hgrn2": 128, "lightnet": 128}


class Recurrence(Sizes):
    """How wide its gates are; `rank` is that of an output gate, and `kernel` None without convolutions."""

    inner: int
    rank: int | None
    kernel: int | None


class Hgrn(Around):
    """How many layers have lower bounds, and of how many elements, and whether the output is scaled."""

    bounds: int | None
    bounded: int
    scaled: bool = flag("elementwise_affine", absent=True)


def spec(c: Config) -> Spec[Hgrn]:
    lit = c.family == "lightnet"

    def own() -> Layer:
        kernel = keys.dim("w", c.int("conv_size")) if c.bool("use_short_conv", default=False) else None
        rank = keys.dim("r_g", c.int("gate_low_rank_dim", default=128)) if lit else None
        return Layer(own=Recurrence.read(c, inner=keys.dim("d_f", _inner(c)), rank=rank, kernel=kernel))

    model = around(c, own, _ABSENT | {"expand_ratio": _ABSENT_RATIO[c.family]}, uncounted=STATES)
    bounds = keys.dim("N", keys.layer_count(c)) if not lit and c.bool("use_lower_bound", default=True) else None
    wide = keys.dim("d_f", _inner(c)) if c.family == "hgrn" else model.hidden
    return model.having(Hgrn.read(c, bounds=bounds, bounded=wide))


def _inner(c: Config) -> int:
    """The elements of all gates: heads of expand_ratio elements, as many as fit the hidden state."""
    hidden = c.int("hidden_size")
    if c.family == "hgrn":
        return c.times("expand_ratio", hidden)
    each = c.int("expand_ratio", default=None)
    heads = c.int("num_heads") if each is None else hidden // each
    c.without_effect("num_heads")
    if c.family == "lightnet" and each is not None:
        heads = c.int("num_heads", default=heads)
    if not heads or hidden % heads:
        text = f"hidden_size is {hidden:,}, which is no multiple of {heads:,} heads."
        raise c.error("not-divisible", text, "hidden_size", "Correct it.", observed=int(hidden))
    return heads * (hidden // heads if each is None else each)


def blueprint(s: Spec[Hgrn]) -> Block:
    d, of = s.hidden, s.own
    first = s.family == "hgrn"

    def mixer(layer: Layer) -> Block:
        a = layer.sizes(Recurrence)
        norm = rms_norm(a.inner if first else d) if of.scaled else None
        if first:
            names = dict.fromkeys(("i", "f", "g"), a.inner)
        elif s.family == "hgrn2":
            names = {"q": a.inner, "f": a.inner, "i": d}
        else:
            names = {"q": a.inner, "k": a.inner, "v": d}
        projections: dict[str, Node | None] = {f"{name}_proj": Linear(d, wide) for name, wide in names.items()}
        if a.rank is not None:
            projections["g_proj"] = Block({"0": Linear(d, a.rank), "1": Linear(a.rank, d)})
        convolved = {name: wide for name, wide in names.items() if name != "g"}
        out = Linear(a.inner if first else d, d)
        return block("linear_attention", **projections, **convolutions(a.kernel, **convolved), g_norm=norm, o_proj=out)

    bounds = None if of.bounds is None else Tensor((of.bounds, of.bounded))
    return flash_linear.model(s, mixer, lower_bounds=bounds)
