"""The one Spec: what a model is, in the literature's terms, whatever its config's keys are called."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hfcount.tree.dims import Dim
from hfcount.tree.indices import Indices


def _symbol(letter: str) -> AfterValidator:
    """Makes a field's value a Dim of that symbol, so that formulas can name it."""
    return AfterValidator(lambda value: Dim.named(letter, value))


def _numbered(indices: Indices) -> Indices:
    return replace(indices, count=Dim.named("N", indices.count))


class Frozen(BaseModel):
    """A value object: immutable, and nothing undeclared gets in."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class GQA(Frozen):
    """Attention with grouped key/value heads; MHA when `kv_heads` equals `heads`, MQA when it is 1.

    `qk_norm` normalises queries and keys per head, or with "width" over all heads at once; `sinks` gives each head a
    logit that no token has; `gated` doubles the queries by a gate for the output.
    """

    type: Literal["gqa"] = "gqa"
    heads: Annotated[int, _symbol("h")]
    kv_heads: Annotated[int, _symbol("h_kv")]
    head_dim: Annotated[int, _symbol("h_d")]
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: Literal[False, True, "width"] = False
    sinks: bool = False
    gated: bool = False


class MLA(Frozen):
    """Latent attention: keys and values from `kv_rank` elements, queries from `query_rank` where it is given.

    A head has `nope_dim` elements without and `rope_dim` with rotary positions, and `value_dim` of values.
    """

    type: Literal["mla"] = "mla"
    heads: Annotated[int, _symbol("h")]
    query_rank: Annotated[int, _symbol("r_q")] | None
    kv_rank: Annotated[int, _symbol("r_kv")]
    nope_dim: Annotated[int, _symbol("h_n")]
    rope_dim: Annotated[int, _symbol("h_r")]
    value_dim: Annotated[int, _symbol("h_v")]
    bias: bool = False


class DeltaNet(Frozen):
    """Gated linear attention with a short convolution (Gated DeltaNet and its kin)."""

    type: Literal["delta_net"] = "delta_net"
    key_heads: Annotated[int, _symbol("l_k")]
    value_heads: Annotated[int, _symbol("l_v")]
    key_dim: Annotated[int, _symbol("l_dk")]
    value_dim: Annotated[int, _symbol("l_dv")]
    kernel: Annotated[int, _symbol("w")]


class SSM(Frozen):
    """A selective state space: Mamba when `heads` is None, else Mamba-2 with its groups."""

    type: Literal["ssm"] = "ssm"
    inner: Annotated[int, _symbol("d_in")]
    state: Annotated[int, _symbol("s")]
    kernel: Annotated[int, _symbol("w")]
    heads: Annotated[int, _symbol("h_m")] | None = None
    groups: Annotated[int, _symbol("g")] = 1
    step_rank: Annotated[int, _symbol("r_dt")] | None = None
    conv_bias: bool = True
    bias: bool = False


class ShortConv(Frozen):
    """A gated short convolution along the sequence."""

    type: Literal["short_conv"] = "short_conv"
    kernel: Annotated[int, _symbol("w")]
    bias: bool = False


class Dense(Frozen):
    """One feed-forward network for all tokens."""

    type: Literal["dense"] = "dense"
    width: Annotated[int, _symbol("d_ff")]
    bias: bool = False


class MoE(Frozen):
    """A router that sends each token to `active` of `experts` networks of `width`.

    `shared` is the width of the network that all tokens pass besides, None when there is none.
    """

    type: Literal["moe"] = "moe"
    experts: Annotated[int, _symbol("n")]
    active: Annotated[int, _symbol("k")]
    width: Annotated[int, _symbol("d_ff")]
    shared: Annotated[int, _symbol("d_s")] | None = None
    bias: bool = False


Mixer = Annotated[GQA | MLA | DeltaNet | SSM | ShortConv, Field(discriminator="type")]
FeedForward = Annotated[Dense | MoE, Field(discriminator="type")]


class Layer(Frozen):
    """What one layer is made of: a mixer of tokens and a feed-forward network; some layers have one of them alone.

    `extras` are sizes and switches that one architecture alone has, by the name of their key.
    """

    mixer: Mixer | None = None
    ffn: FeedForward | None = None
    extras: Mapping[str, int] = {}

    @property
    def attention(self) -> GQA:
        """The mixer of a layer that is known to have softmax attention."""
        if not isinstance(self.mixer, GQA):
            raise TypeError("this layer has no grouped-query attention")
        return self.mixer

    @property
    def dense(self) -> Dense:
        """The feed-forward network of a layer that is known to have one for all tokens."""
        if not isinstance(self.ffn, Dense):
            raise TypeError("this layer has no feed-forward network for all tokens")
        return self.ffn

    @property
    def moe(self) -> MoE:
        """The experts of a layer that is known to have them."""
        if not isinstance(self.ffn, MoE):
            raise TypeError("this layer has no experts")
        return self.ffn


class Layers(Frozen):
    """The layers that are alike, by their numbers."""

    indices: Annotated[Indices, AfterValidator(_numbered)]
    layer: Layer


Head = Literal[
    "causal_lm",
    "base",
    "sequence_classification",
    "token_classification",
    "question_answering",
    "masked_lm",
    "conditional_generation",
    "multiple_choice",
    "pretraining",
]


class Spec(Frozen):
    """A whole model.

    Args:
        labels: the width of a classification head.
        dtype: what the config declares the weights to be.
        positions: rows of a learned table of positions.
        mtp: multi-token-prediction layers, which are no part of the model proper.
        extras: sizes and switches that one architecture alone has, by the name of their key.
    """

    family: str
    architecture: str
    dtype: str | None
    vocab: Annotated[int, _symbol("|V|")]
    hidden: Annotated[int, _symbol("d")]
    layers: tuple[Layers, ...]
    head: Head
    tied: bool
    labels: Annotated[int, _symbol("c")] = 2
    positions: Annotated[int, _symbol("n_p")] | None = None
    mtp: tuple[Layers, ...] = ()
    extras: Mapping[str, int] = {}

    @property
    def depth(self) -> int:
        """The number of layers."""
        return sum(int(part.indices.count) for part in self.layers)
