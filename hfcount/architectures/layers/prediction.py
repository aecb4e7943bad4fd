"""Layers that predict further tokens, stored after the model proper."""

from collections.abc import Callable

from hfcount.architectures.layers.model import stack
from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block


def predicting(s: Spec, one: Layer, layer: Block, tables: bool = True) -> Block:
    """The layer as it is, or if it is one a multi-token-prediction module around it.

    Source: arXiv:2412.19437, section 2.2. Tensors besides the layer's: enorm and hnorm (d), eh_proj (d, 2·d),
    shared_head.norm (d), and with `tables` copies of the model's embedding and head, embed_tokens and shared_head.head
    (|V|, d), which some writers leave out.
    """
    if not one.mtp:
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


def drafting(d: int, one: Layer, layer: Block) -> Block:
    """A layer of a module that predicts one further token.

    Tensors besides the layer's: enorm and hnorm (d), eh_proj (d, 2·d) in the first, final_layernorm (d) in the last.
    """
    entrance = block(enorm=rms_norm(d), hnorm=rms_norm(d), eh_proj=Linear(2 * d, d))
    return Block(
        {
            **(entrance.children if one.first else {}),
            **layer.children,
            **({"final_layernorm": rms_norm(d)} if one.last else {}),
        }
    )
