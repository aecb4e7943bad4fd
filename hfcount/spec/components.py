"""Components of a layer: mixers of tokens, feed-forward networks; and the patches of a vision tower."""

from typing import Annotated, ClassVar, Literal, dataclass_transform, get_args

from hfcount.record import Record
from hfcount.spec.nesting import Nested
from hfcount.spec.tree.dims import Dim


class symbol:
    """Annotates a size with its symbol: the field's value becomes a Dim with that symbol."""

    def __init__(self, letter: str) -> None:
        self.letter = letter


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Frozen(Record):
    """An immutable value whose sizes carry their symbols."""

    _symbols: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        symbols = {
            name: mark.letter
            for name, hint in cls.__annotations__.items()
            for part in (hint, *get_args(hint))
            for mark in getattr(part, "__metadata__", ())
            if isinstance(mark, symbol)
        }
        cls._symbols = {**cls._symbols, **symbols}

    def _settle(self) -> None:
        fields = self.__dict__
        for name, letter in self._symbols.items():
            value = fields[name]
            if value is not None and not isinstance(value, Nested):
                fields[name] = Dim.named(letter, value)


class GQA(Frozen):
    """Attention with grouped key/value heads; MHA when `kv_heads` equals `heads`, MQA when it is 1.

    Args:
        qk_norm: whether queries and keys are normalised: per head, or with "width" over all heads at once.
        sinks: whether each head has a learned logit that belongs to no token.
        gated: whether the query projection also makes a gate for the output, which doubles it.
        value_dim: the width of a head's values if it differs from that of its keys.
        keys_are_values: whether a key is also the value, so that it is kept once.
        scored: products per score (2 if one is with a relative position).
        weighed: how many heads' values each head weighs.
        conv_cache: elements of convolution input the layer caches, if it has short convolutions around attention.
        index_dim: elements of keys that an indexer caches for each token, if it selects what is attended to.
        index_heads: how many heads of it score each block of `index_block` tokens.
        top_k: the most tokens that are attended to, if an indexer selects them.
    """

    heads: Annotated[int, symbol("h")]
    kv_heads: Annotated[int, symbol("h_kv")]
    head_dim: Annotated[int, symbol("h_d")]
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: Literal[False, True, "width"] = False
    sinks: bool = False
    gated: bool = False
    value_dim: Annotated[int, symbol("h_v")] | None = None
    keys_are_values: bool = False
    products_per_score: int = 1
    values_per_head: int = 1
    conv_cache: int = 0
    index_dim: int = 0
    index_heads: int = 0
    index_block: int = 1
    top_k: int | None = None


class MLA(Frozen):
    """Latent attention: keys and values from `kv_rank` elements, queries from `query_rank` unless that is None.

    A head has `nope_dim` elements without and `rope_dim` with rotary positions, and `value_dim` of values. If it
    attends to only `top_k` tokens, an indexer of `index_heads` selects them, with one key of `index_dim` elements per
    token (arXiv:2512.02556); layers without an indexer use the selection of an earlier layer.
    """

    heads: Annotated[int, symbol("h")]
    q_lora_rank: Annotated[int, symbol("r_q")] | None
    kv_lora_rank: Annotated[int, symbol("r_kv")]
    nope_dim: Annotated[int, symbol("h_n")]
    rope_dim: Annotated[int, symbol("h_r")]
    value_dim: Annotated[int, symbol("h_v")]
    bias: bool = False
    top_k: Annotated[int, symbol("t_k")] | None = None
    index_heads: Annotated[int, symbol("h_i")] | None = None
    index_dim: Annotated[int, symbol("h_di")] | None = None


class DeltaNet(Frozen):
    """Gated linear attention with a short convolution (Gated DeltaNet and its kin).

    Each of `key_heads` has `key_dim` elements of queries and of keys, each of `value_heads` `value_dim` of values. The
    convolution is over all three or, without `keys_convolved`, over the values alone.
    """

    key_heads: Annotated[int, symbol("l_k")]
    value_heads: Annotated[int, symbol("l_v")]
    key_dim: Annotated[int, symbol("l_dk")]
    value_dim: Annotated[int, symbol("l_dv")]
    kernel: Annotated[int, symbol("w")]
    keys_convolved: bool = True


class Lightning(Frozen):
    """Linear attention computed block by block, with a fixed decay for each head."""

    heads: Annotated[int, symbol("l")]
    head_dim: Annotated[int, symbol("l_d")]
    kv_heads: Annotated[int, symbol("l_kv")] | None = None


class SSM(Frozen):
    """A selective state space: Mamba when `heads` is None, else Mamba-2 with `groups`.

    `step_rank` is the rank of Mamba's step projection; `bias` is that of the input and output projections.
    """

    inner: Annotated[int, symbol("d_in")]
    state: Annotated[int, symbol("s")]
    kernel: Annotated[int, symbol("w")]
    heads: Annotated[int, symbol("h_m")] | None = None
    groups: Annotated[int, symbol("g")] = 1
    step_rank: Annotated[int, symbol("r_dt")] | None = None
    conv_bias: bool = True
    bias: bool = False


class LRU(Frozen):
    """A gated linear recurrence of `width` elements, whose gates have one diagonal block per head."""

    width: Annotated[int, symbol("d_r")]
    heads: Annotated[int, symbol("h_r")]
    kernel: Annotated[int, symbol("w")]


class RWKV(Frozen):
    """The recurrence of RWKV-4: each of `width` elements is an average of its past, with its own decay.

    Like the network after it, it mixes each input with the previous one. With `head_dim` it is that of RWKV-7, which
    keeps a square matrix for each head.
    """

    width: Annotated[int, symbol("d_a")]
    head_dim: Annotated[int, symbol("d_h")] | None = None


class MLSTM(Frozen):
    """An LSTM whose memory is a matrix; `key_dim` and `value_dim` are sums over all `heads`."""

    heads: Annotated[int, symbol("l")]
    key_dim: Annotated[int, symbol("l_dk")]
    value_dim: Annotated[int, symbol("l_dv")]


class ShortConv(Frozen):
    """A gated short convolution along the sequence."""

    kernel: Annotated[int, symbol("w")]
    bias: bool = False


class Dense(Frozen):
    """One feed-forward network for all tokens."""

    width: Annotated[int, symbol("d_ff")]
    bias: bool = False


class MoE(Frozen):
    """A router that sends each token to `active` of `experts` networks of `width`.

    `shared` is the width of the shared network that every token also uses, None when there is none.
    """

    experts: Annotated[int, symbol("n")]
    active: Annotated[int, symbol("k")]
    width: Annotated[int, symbol("d_ff")]
    shared: Annotated[int, symbol("d_s")] | None = None
    bias: bool = False


Mixer = GQA | MLA | DeltaNet | Lightning | SSM | LRU | RWKV | MLSTM | ShortConv
FeedForward = Dense | MoE


class Patches(Frozen):
    """How a vision transformer reads an image (arXiv:2010.11929): in square patches, one token each.

    Args:
        side: of a patch, in pixels.
        channels: of a pixel.
        frames: frames of a video that a patch spans, if the tower reads videos.
        merge: patches along each side that become one token of the language model.
    """

    side: Annotated[int, symbol("P")]
    channels: Annotated[int, symbol("C")]
    frames: Annotated[int, symbol("P_t")] | None = None
    merge: Annotated[int, symbol("m")] = 1

    @property
    def pixels(self) -> int:
        """Input elements of one patch (of one frame)."""
        return self.channels * self.side * self.side

    @property
    def kernel(self) -> tuple[int, ...]:
        """The kernel of a convolution over patches: channels, frames if there are any, height, width."""
        frames = () if self.frames is None else (self.frames,)
        return (self.channels, *frames, self.side, self.side)

    def merged(self, width: int) -> int:
        """The width of merged patches that have `width` elements each."""
        return self.merge * self.merge * width
