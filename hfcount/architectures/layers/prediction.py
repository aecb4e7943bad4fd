"""Layers that predict further tokens: read from a config, and their tensors after the model proper."""

from collections.abc import Callable, Sequence

from hfcount.architectures.layers.norms import rms_norm
from hfcount.architectures.layers.sizes import layer_count
from hfcount.architectures.layers.stacks import stack, uniform
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.mapper.class_defaults import declared
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block

_COUNTS = ("num_nextn_predict_layers", "num_mtp_layers")


def ahead(c: Config, layers: Sequence[Layers], announced: bool = True) -> dict[str, Spec]:
    """The part `mtp` of a model, with these layers that predict further tokens; empty without layers."""
    if not layers:
        return {}
    vocab, hidden = c.int("vocab_size"), c.int("hidden_size")
    return {"mtp": Spec(family=c.family, vocab=vocab, hidden=hidden, layers=tuple(layers), announced=announced)}


def mtp(c: Config, layer: Callable[[], Layer]) -> dict[str, Spec]:
    """Multi-token-prediction layers, numbered after the others; `layer` builds one.

    Where no key says how many, as many may be there as the class has by default, and none need be.
    """
    usual = declared(c.family).default(_COUNTS)
    default = usual[1] if usual and isinstance(usual[1], int) else 0
    more = c.int(*_COUNTS, default=default, minimum=0, maximum=MAX_LAYERS)
    if not more:
        return {}
    start, marked = int(layer_count(c)), layer().replace(mtp=True)
    layers = [Layers(indices=Indices(range(start, start + more), more), layer=marked)]
    return ahead(c, layers, announced=any(map(c.given, _COUNTS)))


def drafts(c: Config, key: str, layer: Layer, default: int = 0, announced: bool = True) -> dict[str, Spec]:
    """The layers of a small model that drafts further tokens, numbered from 0; `key` is the key of their count."""
    count = c.int(key, default=default, minimum=0, maximum=MAX_LAYERS)
    return ahead(c, uniform(layer, count) if count else (), announced)


def predicting(s: Spec, kind: Layer, layer: Block, tables: bool = True) -> Block:
    """The layer, within a multi-token-prediction module if `kind` is marked as one.

    Source: arXiv:2412.19437, section 2.2. Tensors besides the layer's: enorm and hnorm (d), eh_proj (d, 2·d),
    shared_head.norm (d), and with `tables` copies of the model's embedding and head, embed_tokens and shared_head.head
    (|V|, d), which some writers leave out.
    """
    if not kind.mtp:
        return layer
    d = s.hidden
    module = block(
        embed_tokens=block(weight=Tensor((s.vocab, d), presence="spare")) if tables else None,
        enorm=rms_norm(d),
        hnorm=rms_norm(d),
        eh_proj=Linear(2 * d, d),
        shared_head=block(norm=rms_norm(d), head=Linear(d, s.vocab, presence="spare") if tables else None),
    )
    return Block({**module.children, **layer.children}, "mtp")


def with_draft(s: Spec, model: Callable[[Spec], Block], layer: Callable[[Layer], Block]) -> Block:
    """A model and, if the spec has one, a small model `mtp` that drafts the tokens after the next.

    Tensors: fc (d, 2·d) over the embedding and the hidden state, each with its norm, the layers, norm (d).
    """
    d, tree = s.hidden, model(s.without("mtp"))
    if "mtp" not in s.parts:
        return tree
    draft = block(
        "mtp",
        pre_fc_norm_embedding=rms_norm(d),
        pre_fc_norm_hidden=rms_norm(d),
        fc=Linear(2 * d, d),
        layers=stack(s.stack("mtp"), layer),
        norm=rms_norm(d),
    )
    return Block({**tree.children, "mtp": draft})


def drafting(d: int, kind: Layer, layer: Block) -> Block:
    """A layer of a module that predicts one further token.

    Tensors besides the layer's: enorm and hnorm (d), eh_proj (d, 2·d) in the first, final_layernorm (d) in the last.
    """
    entrance = block(enorm=rms_norm(d), hnorm=rms_norm(d), eh_proj=Linear(2 * d, d))
    return Block(
        {
            **(entrance.children if kind.first else {}),
            **layer.children,
            **({"final_layernorm": rms_norm(d)} if kind.last else {}),
        }
    )


_SHARED = ("embedding", "lm_head")
_TOWERS = ("vision", "audio")


def alone(tree: Block) -> Block:
    """The layers of a model that predict further tokens, without it; empty if it has none.

    A checkpoint may store the embedding and the head beside them, which they share with the model.
    """
    left = _of_prediction(tree)
    return left if isinstance(left, Block) else Block({})


def _of_prediction(node: Node) -> Node | None:
    component = getattr(node, "component", None)
    if component in _SHARED:
        return spared(node)
    return _of_layers(node) if isinstance(node, Repeat) or component == "mtp" else _part(node, _of_prediction)


def _of_layers(node: Node) -> Node | None:
    """What predicts of the layers, each of which may have tables of its own."""
    return _unmarked(node) if getattr(node, "component", None) == "mtp" else _part(node, _of_layers)


def _part(node: Node, change: Callable[[Node], Node | None]) -> Node | None:
    return None if getattr(node, "component", None) in _TOWERS else _within(node, change)


def _unmarked(node: Node) -> Node | None:
    """A part of a layer, which is counted under what it is."""
    if getattr(node, "component", None) == "mtp":
        assert isinstance(node, Block | Linear | Tensor)
        node = node.replace(component=None)
    return _within(node, _unmarked) or node


def spared(node: Node) -> Node | None:
    """A part that a checkpoint need not store, such as a table or a head; None if nothing of it could be stored."""
    if isinstance(node, Tied):
        return Block({node.name: Tensor(node.shape, presence="spare")}, node.component)
    return node.replace(presence="spare") if isinstance(node, Tensor | Linear) else _within(node, spared)


def _within(node: Node, change: Callable[[Node], Node | None]) -> Node | None:
    """A node of which each child is what `change` makes of it; None if nothing is left, or it has no children."""
    if isinstance(node, tuple):
        return tuple(filter(None, map(change, node))) or None
    if isinstance(node, Repeat):
        body = change(node.body)
        return None if body is None else node.replace(body=body)
    if not isinstance(node, Block):
        return None
    children = {name: left for name, child in node.children.items() if (left := change(child)) is not None}
    return node.replace(children=children) if children else None
