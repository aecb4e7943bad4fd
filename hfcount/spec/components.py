"""What a layer is made of: mixers of tokens, feed-forward networks; and the tower that sees."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import is_instance_schema, no_info_plain_validator_function

from hfcount.tree.dims import Dim


class symbol:
    """Makes a field's value a Dim of that symbol, so that formulas can name it and say which key gave it."""

    def __init__(self, letter: str) -> None:
        self._letter = letter

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self._named)  # built in a tenth of the time of a wrapped int

    def _named(self, value: Any) -> Dim:
        if not isinstance(value, int):
            raise ValueError(f"{self._letter} must be a whole number")
        return Dim.named(self._letter, int(value), getattr(value, "source", ""))


class Size:
    """Keeps a size that has a symbol; any other is a plain number, which formulas show as such."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(lambda value: value if isinstance(value, Dim) else int(value))


Extras = Mapping[str, Annotated[int, Size()]]
"""Sizes and switches that one architecture alone has, by the name of their key."""


class Made:
    """Takes one of several parts as it was made, so that of all there are only those in use cost their building."""

    def __get_pydantic_core_schema__(self, source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return is_instance_schema(get_args(source))


class Frozen(BaseModel):
    """A value object: immutable, and nothing undeclared gets in."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    def but(self, **changes: Any) -> Self:
        """The same with these fields changed."""
        return type(self)(**{**dict(self), **changes})


class GQA(Frozen):
    """Attention with grouped key/value heads; MHA when `kv_heads` equals `heads`, MQA when it is 1.

    `qk_norm` normalises queries and keys per head, or with "width" over all heads at once; `sinks` gives each head a
    logit that no token has; `gated` doubles the queries by a gate for the output; `value_dim` is the width of a head's
    values where it is not that of its keys. `scored` is how many products of a query make a score, the second of which
    is with a relative position, and `weighed` how many heads' values each head weighs. `convolved` is what its layer
    keeps of earlier inputs for short convolutions, in elements, where attention stands among them.
    """

    type: Literal["gqa"] = "gqa"
    heads: Annotated[int, symbol("h")]
    kv_heads: Annotated[int, symbol("h_kv")]
    head_dim: Annotated[int, symbol("h_d")]
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: Literal[False, True, "width"] = False
    sinks: bool = False
    gated: bool = False
    value_dim: Annotated[int, symbol("h_v")] | None = None
    scored: int = 1
    weighed: int = 1
    convolved: int = 0


class MLA(Frozen):
    """Latent attention: keys and values from `kv_rank` elements, queries from `query_rank` where it is given.

    A head has `nope_dim` elements without and `rope_dim` with rotary positions, and `value_dim` of values. Where it
    looks at `picked` tokens alone, these are chosen by an indexer of `index_heads`, for which each token has one key of
    `index_dim` elements (arXiv:2512.02556); layers without an indexer follow the choice of one before.
    """

    type: Literal["mla"] = "mla"
    heads: Annotated[int, symbol("h")]
    query_rank: Annotated[int, symbol("r_q")] | None
    kv_rank: Annotated[int, symbol("r_kv")]
    nope_dim: Annotated[int, symbol("h_n")]
    rope_dim: Annotated[int, symbol("h_r")]
    value_dim: Annotated[int, symbol("h_v")]
    bias: bool = False
    picked: Annotated[int, symbol("t_k")] | None = None
    index_heads: Annotated[int, symbol("h_i")] | None = None
    index_dim: Annotated[int, symbol("h_di")] | None = None


class DeltaNet(Frozen):
    """Gated linear attention with a short convolution (Gated DeltaNet and its kin).

    Each of `key_heads` has `key_dim` elements of queries and of keys, each of `value_heads` `value_dim` of values.
    """

    type: Literal["delta_net"] = "delta_net"
    key_heads: Annotated[int, symbol("l_k")]
    value_heads: Annotated[int, symbol("l_v")]
    key_dim: Annotated[int, symbol("l_dk")]
    value_dim: Annotated[int, symbol("l_dv")]
    kernel: Annotated[int, symbol("w")]


class Lightning(Frozen):
    """Linear attention computed block by block, with a decay that each head keeps."""

    type: Literal["lightning"] = "lightning"
    heads: Annotated[int, symbol("l")]
    head_dim: Annotated[int, symbol("l_d")]
    kv_heads: Annotated[int, symbol("l_kv")] | None = None


class SSM(Frozen):
    """A selective state space: Mamba when `heads` is None, else Mamba-2 with its groups.

    `step_rank` is the width from which Mamba makes its steps; `bias` belongs to the projections.
    """

    type: Literal["ssm"] = "ssm"
    inner: Annotated[int, symbol("d_in")]
    state: Annotated[int, symbol("s")]
    kernel: Annotated[int, symbol("w")]
    heads: Annotated[int, symbol("h_m")] | None = None
    groups: Annotated[int, symbol("g")] = 1
    step_rank: Annotated[int, symbol("r_dt")] | None = None
    conv_bias: bool = True
    bias: bool = False


class LRU(Frozen):
    """A gated linear recurrence of `width` elements, with gates of one block for each head."""

    type: Literal["lru"] = "lru"
    width: Annotated[int, symbol("d_r")]
    heads: Annotated[int, symbol("h_r")]
    kernel: Annotated[int, symbol("w")]


class RWKV(Frozen):
    """The recurrence of RWKV-4: each of `width` elements is an average of its past, with a decay of its own.

    Like the network behind it, it mixes each input with the one before.
    """

    type: Literal["rwkv"] = "rwkv"
    width: Annotated[int, symbol("d_a")]


class MLSTM(Frozen):
    """An LSTM with a matrix for its memory; `key_dim` and `value_dim` are those of all `heads` together."""

    type: Literal["mlstm"] = "mlstm"
    heads: Annotated[int, symbol("l")]
    key_dim: Annotated[int, symbol("l_dk")]
    value_dim: Annotated[int, symbol("l_dv")]


class ShortConv(Frozen):
    """A gated short convolution along the sequence."""

    type: Literal["short_conv"] = "short_conv"
    kernel: Annotated[int, symbol("w")]
    bias: bool = False


class Dense(Frozen):
    """One feed-forward network for all tokens."""

    type: Literal["dense"] = "dense"
    width: Annotated[int, symbol("d_ff")]
    bias: bool = False


class MoE(Frozen):
    """A router that sends each token to `active` of `experts` networks of `width`.

    `shared` is the width of the network that all tokens pass besides, None when there is none.
    """

    type: Literal["moe"] = "moe"
    experts: Annotated[int, symbol("n")]
    active: Annotated[int, symbol("k")]
    width: Annotated[int, symbol("d_ff")]
    shared: Annotated[int, symbol("d_s")] | None = None
    bias: bool = False


Mixer = Annotated[GQA | MLA | DeltaNet | Lightning | SSM | LRU | RWKV | MLSTM | ShortConv, Made()]
FeedForward = Annotated[Dense | MoE, Made()]


class Vision(Frozen):
    """A vision transformer (arXiv:2010.11929): an image in patches of `channels` colours, one token each.

    Args:
        patch: the extent of a patch, (height, width), or (frames, height, width) for videos.
        positions: rows of a learned table of positions.
        merge: how many patches, along each side, become one token of the language model.
        out: the width of what the tower hands on.
        extras: sizes and switches that one architecture alone has, by the name of their key.
    """

    hidden: Annotated[int, symbol("d_v")]
    layers: Annotated[int, symbol("N_v")]
    width: Annotated[int, symbol("d_vf")]
    patch: tuple[int, ...]
    channels: int = 3
    positions: Annotated[int, symbol("n_v")] | None = None
    merge: int = 1
    out: Annotated[int, symbol("d_o")] | None = None
    extras: Extras = Field(default_factory=dict)
