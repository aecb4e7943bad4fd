"""What models of flash-linear-attention have around their mixers: networks, some softmax attention, and residuals."""

from collections.abc import Callable, Mapping
from math import isclose
from typing import Any, Unpack

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, gqa, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.mixers import conv1d
from hfcount.architectures.layers.model import Fields
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import GQA, DeltaNet, Dense, Layer, Layers, Record, Spec, Window
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Node, block

# models/modeling_utils.py, models/configuration_utils.py, modules/mlp.py and layers/attn.py of
# fla-org/flash-linear-attention 0.6.0
IGNORED = tuple(
    "allow_neg_eigval attn_mode clamp_max clamp_min fuse_cross_entropy fuse_linear_cross_entropy fuse_norm fuse_swiglu"
    " gate_logit_normalizer use_l2warp".split()
)
HEADS = ("ForCausalLM", "Model")
_MULTIPLE, _STEP, _RATIO = 256, 32, 4
STATES = "what its layers keep of earlier tokens is not described"


def _weighs(c: Config) -> bool:
    """Whether projections weigh the residuals, whose blocks are of 1 or an even number of mixers and networks."""
    blocks = c.int("attnres_block_size", default=None)
    if blocks is not None and blocks != 1 and blocks % 2:
        text = f"attnres_block_size is {blocks:,}, but must be 1 or even."
        raise c.error("out-of-range", text, "attnres_block_size", observed=int(blocks))
    return blocks is not None


class Around(Sizes):
    """Whether projections weigh what earlier layers gave."""

    weighs: bool = derived(_weighs)


class Grouped(Record):
    """Heads of linear attention, of which several may share keys and values; `kernel` is None without convolutions."""

    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    kernel: int | None


def grouped(
    c: Config, *, convolved: bool, names: tuple[str, str] = ("expand_k", "expand_v"), sharing: bool = True
) -> Grouped:
    """Heads whose keys and values are as wide as the hidden state times a factor, under `names`."""
    heads = c.int("num_heads")
    shared = c.int("num_kv_heads", default=None) if sharing else None
    if shared is not None and heads % shared:
        raise _uneven(c, heads, shared)
    key, value = (
        keys.divides(c, "num_heads", heads, name, multiplied(c, name, c.int("hidden_size"))) for name in names
    )
    return Grouped(
        heads=keys.dim("l", heads),
        kv_heads=keys.dim("l", heads) if shared is None else keys.dim("l_kv", shared),
        key_dim=keys.dim("l_dk", key),
        value_dim=keys.dim("l_dv", value),
        kernel=keys.dim("w", c.int("conv_size")) if convolved else None,
    )


def _uneven(c: Config, heads: int, shared: int) -> Exception:
    text = f"num_heads {heads:,} is not a multiple of num_kv_heads {shared:,}."
    return c.error("not-divisible", text, "num_kv_heads", "Correct one of them.", observed=int(shared))


def multiplied(c: Config, key: str, whole: int) -> int:
    """`whole` times the factor under `key`, which must give a whole number."""
    exact = c.number(key) * int(whole)
    wide = c.times(key, whole)
    if not wide or not isclose(wide, exact, rel_tol=1e-5):
        raise c.error("not-divisible", f"{key} makes {exact:,.3f} of {whole:,}, which is no whole number above 0.", key)
    return wide


def delta_heads(c: Config, *, convolved: bool, sharing: bool = True) -> DeltaNet:
    """Heads of head_dim, whose values are wider by a factor; with `sharing` there may be more or fewer of values."""
    heads, width = c.int("num_heads"), c.int("head_dim")
    values = c.int("num_v_heads", default=heads) if sharing else heads
    if values > heads and values % heads:
        text = f"num_v_heads {values:,} is not a multiple of num_heads {heads:,}."
        raise c.error("not-divisible", text, "num_v_heads", "Correct one of them.", observed=int(values))
    wide, kernel = multiplied(c, "expand_v", width), c.int("conv_size") if convolved else 1
    return DeltaNet(key_heads=heads, value_heads=values, key_dim=width, value_dim=wide, kernel=kernel)


def gated_width(c: Config, hidden: int) -> int:
    """The width of the gated network: intermediate_size, else what has hidden_ratio · d² parameters."""
    if (given := c.int("intermediate_size", default=None)) is not None:
        return given
    ratio = c.number("hidden_ratio", default=_RATIO)
    wide = int(int(hidden) * ratio * 2 / 3)
    rule = f"2 · {{hidden_ratio}} · {{hidden_size}} / 3, rounded down, rounded up to {_MULTIPLE}"
    return keys.derived_dim(c, "d_ff", round_up(wide, _MULTIPLE), rule)


def plain_width(c: Config, hidden: int, ratio: float) -> int:
    """The width of a plain network: intermediate_size, else hidden_ratio times the hidden state's."""
    if (given := c.int("intermediate_size", default=None)) is not None:
        return given
    wide = round_up(int(int(hidden) * c.number("hidden_ratio", default=ratio)), _STEP)
    return keys.derived_dim(c, "d_ff", wide, f"{{hidden_ratio}} · {{hidden_size}}, rounded up to {_STEP}")


def first_apart(part: Layers, ffn: Dense) -> list[Layers]:
    """These layers with a network, the model's first one apart."""
    first, layer = Indices.below(1), part.layer.replace(ffn=ffn)
    rest = part.indices.difference(first) if 0 in part.indices else part.indices
    return keys.split((intersection(part.indices, first), lambda: layer.replace(first=True)), (rest, lambda: layer))


def shared_heads(c: Config) -> tuple[int, int]:
    """The heads of softmax attention, and those of keys and values, which must divide them."""
    heads = c.int("num_heads")
    shared = c.int("num_kv_heads", default=heads)
    if heads % shared:
        raise _uneven(c, heads, shared)
    return heads, shared


def softmax(c: Config, hidden: int, qk_norm: bool = False, rotary: bool = True) -> GQA:
    """Softmax attention, whose heads are built even if they do not divide the width."""
    heads, shared = shared_heads(c)
    mixer = keys.multi_head(c, hidden, heads, bias=False, indivisible="built")
    if rotary:
        rotated(c, mixer.head_dim)
    return mixer.replace(kv_heads=shared, qkv_bias=c.bool("qkv_bias", default=False), qk_norm=qk_norm)


def rotated(c: Config, width: int) -> None:
    """Refuses heads of an odd number of elements, which no rotary positions turn."""
    if width % 2:
        text = f"a head has {width:,} elements, but must have an even number."
        raise c.error("out-of-range", text, "num_heads", "Correct it.", observed=int(width))


def hybrid(c: Config, hidden: int, count: int) -> tuple[list[Layers], list[Window]]:
    """The layers that `attn` gives softmax attention, and their windows."""
    if isinstance(c.value("attn"), list):
        raise c.error("not-described", "attn is a list of several settings, which is not described.", "attn")
    part = c.sub("attn")
    if part is None:
        return [], []
    listed = part.ints("layers", minimum=0)
    if any(place >= count for place in listed) or len({*listed}) != len(listed):
        text = f"attn.layers must name layers below num_hidden_layers {count:,}, each once."
        raise c.error("list-length", text, "attn", "Correct one of them.")
    some = keys.among(part, "layers", listed, count)
    layers = keys.split((some, lambda: Layer(mixer=softmax(part, hidden))))
    extent = part.int("window_size", default=None)
    return layers, [Window(indices=some, extent=extent)] if extent is not None and some.count else []


def around(
    c: Config,
    own: Callable[[], Layer],
    absent: Mapping[str, Any],
    *,
    mixed: bool = True,
    activations: tuple[str, ...] = ("swish", "powlu"),
    **more: Unpack[Fields],
) -> Spec:
    """The Spec of a model whose layers are `own`, but for those that `attn` gives softmax attention."""
    c.assuming(absent)
    c.choice("hidden_act", activations, default="swish")
    hidden, count = c.int("hidden_size"), keys.layer_count(c)
    some, windows = hybrid(c, hidden, count) if mixed else ([], [])
    rest = Indices.below(count).difference(*(part.indices for part in some))
    layers = [*some, *keys.split((rest, own))]
    ffn = keys.uniform(Layer(ffn=Dense(width=gated_width(c, hidden))), count)
    more |= {"hidden": hidden, "windows": tuple(windows)}
    return keys.decoder_spec(c, keys.combined(layers, ffn), heads=HEADS, **more)


def attention(d: int, a: GQA, **more: Node | None) -> Block:
    """Softmax attention whose queries and output are as wide as the hidden state, whatever the heads."""
    wide = {"q_proj": Linear(d, d, a.qkv_bias), "o_proj": Linear(d, d), "rotary_emb": None}
    return altered(gqa(d, a), **{**wide, **more})


def convolutions(kernel: int | None, **channels: int) -> dict[str, Node | None]:
    """A short convolution behind each projection that is named, if there is a kernel."""
    return {f"{name}_conv1d": None if kernel is None else conv1d(wide, kernel) for name, wide in channels.items()}


def weighing(d: int, weighs: bool, *places: str) -> dict[str, Node | None]:
    """A norm and a projection to one score for what earlier layers gave."""
    found: dict[str, Node | None] = {}
    for place in places if weighs else ():
        found |= {f"{place}res_proj": Linear(d, 1, component="other"), f"{place}res_norm": rms_norm(d)}
    return found


def body(s: Spec[Any], mixer: Callable[[Layer], Block], **more: Node | None) -> Block:
    """Embedding, layers of a mixer and a gated network, and the final norm; `more` is beside them."""
    d, weighs = s.hidden, s.own.weighs

    def layer_block(layer: Layer) -> Block:
        plain = block(attn_norm=rms_norm(d), attn=mixer(layer), mlp_norm=rms_norm(d), mlp=swiglu(d, layer.dense.width))
        return altered(plain, **weighing(d, weighs, "attn_", "mlp_"))

    plain = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    return altered(plain, **weighing(d, weighs, ""), **more)


def model(s: Spec[Any], mixer: Callable[[Layer], Block], **more: Node | None) -> Block:
    """A model of these mixers, and of softmax attention where `attn` gives it, with its head."""

    def either(layer: Layer) -> Block:
        return attention(s.hidden, layer.attention) if isinstance(layer.mixer, GQA) else mixer(layer)

    return headed(s, either, **more)


def headed(s: Spec[Any], mixer: Callable[[Layer], Block], **more: Node | None) -> Block:
    """A model of these mixers with its head."""
    return with_head(s, body(s, mixer, **more), table="embeddings")
