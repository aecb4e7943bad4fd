"""The one Spec: what a model is, in the literature's terms, whatever its config's keys are called."""

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
    """Attention with grouped key/value heads; MHA when `kv_heads` equals `heads`, MQA when it is 1."""

    type: Literal["gqa"] = "gqa"
    heads: Annotated[int, _symbol("h")]
    kv_heads: Annotated[int, _symbol("h_kv")]
    head_dim: Annotated[int, _symbol("h_d")]
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: bool = False


class Dense(Frozen):
    """One feed-forward network for all tokens."""

    type: Literal["dense"] = "dense"
    width: Annotated[int, _symbol("d_ff")]
    bias: bool = False


class MoE(Frozen):
    """A router that sends each token to `active` of `experts` feed-forward networks."""

    type: Literal["moe"] = "moe"
    experts: Annotated[int, _symbol("n")]
    active: Annotated[int, _symbol("k")]
    width: Annotated[int, _symbol("d_ff")]


class Layer(Frozen):
    """What one layer is made of: a mixer of tokens and a feed-forward network."""

    mixer: GQA
    ffn: Annotated[Dense | MoE, Field(discriminator="type")]

    @property
    def dense(self) -> Dense:
        """The feed-forward network of a layer that is known to have one for all tokens."""
        if not isinstance(self.ffn, Dense):
            raise TypeError("this layer routes its tokens to experts")
        return self.ffn

    @property
    def moe(self) -> MoE:
        """The experts of a layer that is known to have them."""
        if not isinstance(self.ffn, MoE):
            raise TypeError("this layer has one feed-forward network")
        return self.ffn


class Layers(Frozen):
    """The layers that are alike, by their numbers."""

    indices: Annotated[Indices, AfterValidator(_numbered)]
    layer: Layer


Head = Literal["causal_lm", "base", "sequence_classification", "token_classification", "question_answering"]


class Spec(Frozen):
    """A whole model.

    `labels` is the width of a classification head; `dtype` is what the config declares the weights to be.
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

    @property
    def depth(self) -> int:
        """The number of layers."""
        return sum(int(part.indices.count) for part in self.layers)
