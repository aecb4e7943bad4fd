"""The one Spec: what a model is, in the literature's terms, whatever its config's keys are called."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

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

    def but(self, **changes: Any) -> Self:
        """The same with these fields changed."""
        return type(self)(**{**dict(self), **changes})


class GQA(Frozen):
    """Attention with grouped key/value heads; MHA when `kv_heads` equals `heads`, MQA when it is 1.

    `qk_norm` normalises queries and keys per head, or with "width" over all heads at once; `sinks` gives each head a
    logit that no token has; `gated` doubles the queries by a gate for the output; `value_dim` is the width of a head's
    values where it is not that of its keys.
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
    value_dim: Annotated[int, _symbol("h_v")] | None = None


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
    """Gated linear attention with a short convolution (Gated DeltaNet and its kin).

    Each of `key_heads` has `key_dim` elements of queries and of keys, each of `value_heads` `value_dim` of values.
    """

    type: Literal["delta_net"] = "delta_net"
    key_heads: Annotated[int, _symbol("l_k")]
    value_heads: Annotated[int, _symbol("l_v")]
    key_dim: Annotated[int, _symbol("l_dk")]
    value_dim: Annotated[int, _symbol("l_dv")]
    kernel: Annotated[int, _symbol("w")]


class Lightning(Frozen):
    """Linear attention computed block by block, with a decay that each head keeps."""

    type: Literal["lightning"] = "lightning"
    heads: Annotated[int, _symbol("l")]
    head_dim: Annotated[int, _symbol("l_d")]
    kv_heads: Annotated[int, _symbol("l_kv")] | None = None


class SSM(Frozen):
    """A selective state space: Mamba when `heads` is None, else Mamba-2 with its groups.

    `step_rank` is the width from which Mamba makes its steps; `bias` belongs to the projections.
    """

    type: Literal["ssm"] = "ssm"
    inner: Annotated[int, _symbol("d_in")]
    state: Annotated[int, _symbol("s")]
    kernel: Annotated[int, _symbol("w")]
    heads: Annotated[int, _symbol("h_m")] | None = None
    groups: Annotated[int, _symbol("g")] = 1
    step_rank: Annotated[int, _symbol("r_dt")] | None = None
    conv_bias: bool = True
    bias: bool = False


class LRU(Frozen):
    """A gated linear recurrence of `width` elements, with gates of one block for each head."""

    type: Literal["lru"] = "lru"
    width: Annotated[int, _symbol("d_r")]
    heads: Annotated[int, _symbol("h_r")]
    kernel: Annotated[int, _symbol("w")]


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


Mixer = Annotated[GQA | MLA | DeltaNet | Lightning | SSM | LRU | ShortConv, Field(discriminator="type")]
FeedForward = Annotated[Dense | MoE, Field(discriminator="type")]


class Layer(Frozen):
    """What one layer is made of: a mixer of tokens and a feed-forward network; some layers have one of them alone.

    `beside` is a second mixer that works on the same tokens, in the layers that have two. `extras` are sizes and
    switches that one architecture alone has, by the name of their key.
    """

    mixer: Mixer | None = None
    ffn: FeedForward | None = None
    beside: Mixer | None = None
    extras: Mapping[str, int] = {}

    @property
    def attention(self) -> GQA:
        """The mixer of a layer that is known to have softmax attention."""
        if not isinstance(self.mixer, GQA):
            raise TypeError("this layer has no grouped-query attention")
        return self.mixer

    @property
    def latent(self) -> MLA:
        """The mixer of a layer that is known to have latent attention."""
        if not isinstance(self.mixer, MLA):
            raise TypeError("this layer has no latent attention")
        return self.mixer

    @property
    def second(self) -> GQA:
        """The second mixer of a layer that is known to have attention beside its first."""
        if not isinstance(self.beside, GQA):
            raise TypeError("this layer has no attention beside its mixer")
        return self.beside

    @property
    def ssm(self) -> SSM:
        """The mixer, or the second one, of a layer that is known to have a state space."""
        for mixer in (self.mixer, self.beside):
            if isinstance(mixer, SSM):
                return mixer
        raise TypeError("this layer has no state space")

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
    "next_sentence",
    "image_classification",
    "double_heads",
    "reward",
    "encoder",
    "masked_image",
]


class Vision(Frozen):
    """A vision transformer (arXiv:2010.11929): an image in patches of `channels` colours, one token each.

    Args:
        patch: the extent of a patch, (height, width), or (frames, height, width) for videos.
        positions: rows of a learned table of positions.
        merge: how many patches, along each side, become one token of the language model.
        out: the width of what the tower hands on.
        extras: sizes and switches that one architecture alone has, by the name of their key.
    """

    hidden: Annotated[int, _symbol("d_v")]
    layers: Annotated[int, _symbol("N_v")]
    width: Annotated[int, _symbol("d_vf")]
    patch: tuple[int, ...]
    channels: int = 3
    positions: Annotated[int, _symbol("n_v")] | None = None
    merge: int = 1
    out: Annotated[int, _symbol("d_o")] | None = None
    extras: Mapping[str, int] = {}


class Spec(Frozen):
    """A whole model.

    Args:
        heads: those that the architecture's classes have.
        labels: the width of a classification head.
        dtype: what the config declares the weights to be.
        positions: rows of a learned table of positions.
        mtp: multi-token-prediction layers, which are no part of the model proper; `mtp_announced` is False where the
            architecture has them and the config does not say whether the checkpoint does.
        encoder: the layers of the encoder, where there is one besides the decoder.
        languages: those that have parts of their own.
        extras: sizes and switches that one architecture alone has, by the name of their key.
        vision: the tower that sees images; text: the language model, where any may be nested.
    """

    family: str
    architecture: str
    dtype: str | None
    vocab: Annotated[int, _symbol("|V|")]
    hidden: Annotated[int, _symbol("d")]
    layers: tuple[Layers, ...]
    head: Head
    heads: tuple[Head, ...] = ()
    tied: bool
    labels: Annotated[int, _symbol("c")] = 2
    positions: Annotated[int, _symbol("n_p")] | None = None
    mtp: tuple[Layers, ...] = ()
    mtp_announced: bool = True
    encoder: tuple[Layers, ...] = ()
    languages: tuple[str, ...] = ()
    extras: Mapping[str, int] = {}
    vision: Vision | None = None
    text: "Spec | None" = None

    @property
    def eyes(self) -> Vision:
        """The tower of a model that is known to see."""
        if self.vision is None:
            raise TypeError("this model has no vision tower")
        return self.vision

    @property
    def depth(self) -> int:
        """The number of layers."""
        return sum(int(part.indices.count) for part in self.layers)
