"""Hyper-connections, which are several residual streams, and experts chosen by hash."""

from hfcount.architectures.layers.model import embedding, lm_head
from hfcount.architectures.layers.norms import rms_norm
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Node, Tensor, block


def mixer(name: str, d: int, several: int) -> dict[str, Node]:
    """Mixes m residual streams around a part of a layer (arXiv:2512.24880).

    Tensors: `name`_fn (m·(m + 2), m·d), `name`_base (m·(m + 2)), `name`_scale (3).
    """
    rows = (2 + several) * several
    shapes = {"fn": (rows, several * d), "base": (rows,), "scale": (3,)}
    return {f"{name}_{part}": Tensor(shape, component="other") for part, shape in shapes.items()}


def streams(d: int, several: int) -> Block:
    """Joins m residual streams before the final norm. Tensors: hc_fn (m, m·d), hc_base (m), hc_scale (1)."""
    return block("other", hc_fn=Tensor((several, several * d)), hc_base=Tensor((several,)), hc_scale=Tensor((1,)))


def joining(d: int, several: int) -> dict[str, Node]:
    """As `streams`, with the names of the first release: hc_head_fn, hc_head_base and hc_head_scale."""
    return {f"hc_head_{name.removeprefix('hc_')}": node for name, node in streams(d, several).children.items()}


def streamed(s: Spec, layers: tuple[Node, ...], several: int) -> Block:
    """A decoder of m residual streams with its head, called head; a base model has the names of the first release.

    Tensors: embed_tokens (|V|, d), or embed; layers; norm (d); hc_head, which joins the streams, or hc_head_fn,
    hc_head_base and hc_head_scale.
    """
    table, norm, join = embedding(s.vocab, s.hidden), rms_norm(s.hidden), streams(s.hidden, several)
    if s.head == "base":
        return block(embed=table, layers=layers, norm=norm, **joining(s.hidden, several))
    body = block(embed_tokens=table, layers=layers, norm=norm, hc_head=join)
    return block(model=body, head=lm_head(s, "model.embed_tokens.weight"))
