"""Blocks of attention and a network that several layers share, as in Zamba."""

from collections.abc import Mapping, Sequence

from hfcount.architectures.layers.attention import gqa
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers, Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, block


class SharedBlock(Record):
    """A block that a layer stores: its number, from 1, and how many layers use it."""

    number: int
    users: int


def owned(c: Config, layer: Layer, owners: Sequence[Indices], sharing: Indices) -> list[Layers]:
    """Layers, some of which use shared blocks of a second mixer and a network.

    Each of `owners` stores a SharedBlock; owners and the layers of `sharing` use the blocks in turn.
    """
    alone = Indices.below(layer_count(c)).difference(*owners, sharing)
    result = [(alone, layer.replace(parallel_mixer=None)), (sharing, layer)]
    for number, place in enumerate(owners):
        users = len(range(number, len(owners) + int(sharing.count), len(owners)))
        result.append((place, layer.replace(own=SharedBlock(number=number + 1, users=users))))
    return [Layers(indices=indices, layer=layer) for indices, layer in result if indices.count]


def hybrid(d: int, kind: Layer, ssm: Block, stored: Mapping[str, Node]) -> Block:
    """A state space layer; in some layers a shared block of attention precedes it.

    Source: arXiv:2405.16712. Tensors: those of `ssm` under mamba, and input_layernorm (d); with attention both under
    mamba_decoder, linear (d, d), and `stored`, the block that it stores by its name.
    """
    alone = block(mamba=ssm, input_layernorm=rms_norm(d))
    if kind.parallel_mixer is None:
        return alone
    layer = block(linear=Linear(d, d, component="attention"), mamba_decoder=alone)
    return Block({**layer.children, **stored})


def shared_block(d: int, wide: int, layer: Layer, network: Block, **adapters: Node) -> Block:
    """The SharedBlock of a layer: self_attn over states and embeddings, `wide` together, and `network` as feed_forward.

    Tensors besides them: a norm before each, and `adapters` as further children of self_attn.
    """
    a = layer.parallel_attention
    attention = altered(gqa(wide, a), o_proj=Linear(a.heads * a.head_dim, d), **adapters)
    shared = block(
        self_attn=attention,
        feed_forward=network,
        input_layernorm=rms_norm(wide),
        pre_ff_layernorm=rms_norm(d),
    )
    return Block(shared.children, repeats=layer.sizes(SharedBlock).users)
