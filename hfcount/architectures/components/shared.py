"""Blocks of attention and a network that several layers share, as in Zamba."""

from collections.abc import Iterator, Mapping, Sequence

from hfcount.architectures.layers.attention import gqa
from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block


class SharedBlock(Record):
    """A block that layers share.

    Args:
        number: of the block, from 1.
        users: how many layers use it.
        owner: the layer that stores it, of one that has its tensors as second names; None of that layer itself.
    """

    number: int
    users: int
    owner: int | None = None


def owned(c: Config, layer: Layer, owners: Sequence[Indices], sharing: Indices) -> list[Layers]:
    """Layers, some of which use shared blocks of a second mixer and a network.

    Each of `owners` stores a SharedBlock; owners and the layers of `sharing` use the blocks in turn.
    """
    alone = Indices.below(layer_count(c)).difference(*owners, sharing)
    result, stored = [(alone, layer.replace(parallel_mixer=None))], []
    for number, (place, again) in enumerate(zip(owners, _in_turn(sharing, len(owners)), strict=True)):
        own = SharedBlock(number=number + 1, users=int(again.count) + 1)
        stored.append((place, layer.replace(own=own)))
        if again.count:
            result.append((again, layer.replace(own=own.replace(owner=min(place)))))
    result += stored
    return [Layers(indices=indices, layer=layer) for indices, layer in result if indices.count]


def _in_turn(sharing: Indices, blocks: int) -> list[Indices]:
    """The layers that use each of several blocks, one after the other; one block is used by all of them."""
    if blocks == 1:
        return [sharing]
    numbers = [*sharing]  # which a config lists
    return [Indices.of(numbers[number::blocks]) for number in range(blocks)]


def stored_block(s: Spec, layer: Layer, name: str, made: Block) -> Block:
    """The block of a layer as it is saved: its tensors, or second names of those that its owner stores as `name`."""
    owner = layer.sizes(SharedBlock).owner
    if owner is None:
        return made
    body = "" if s.head == "base" else "model."
    return _again(made, f"{body}layers.{owner}.{name}")


def _again(made: Block, place: str) -> Block:
    """Second names of all tensors of a module at a place."""
    children = {name: node for key, child in made.children.items() for name, node in _names(child, key, place)}
    return Block(children, made.component)


def _names(node: Node, name: str, place: str) -> Iterator[tuple[str, Node]]:
    at = f"{place}.{name}"
    if isinstance(node, Linear):
        weight = Tied(f"{at}.weight", (node.outputs, node.inputs), node.component)
        bias = (Tied(f"{at}.bias", (node.outputs,), node.component, name="bias"),) if node.bias else ()
        yield name, (weight, *bias)
    elif isinstance(node, Repeat):
        assert isinstance(node.body, Block), "adapters are blocks"
        yield name, Block({str(index): _again(node.body, f"{at}.{index}") for index in node.indices})
    elif isinstance(node, Block):
        inner = {key: child for key, child in node.children.items() if not isinstance(child, Tensor)}
        own = (
            Tied(f"{at}.{key}", child.shape, child.component or node.component, name=key)
            for key, child in node.children.items()
            if isinstance(child, Tensor) and child.presence == "required"
        )
        yield name, (_again(Block(inner, node.component), at), *own)


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
