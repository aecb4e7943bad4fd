"""Several residual streams, and experts chosen by hash."""

from hfcount.parts.ffn import correction_bias, experts
from hfcount.parts.model import embedding, lm_head
from hfcount.parts.norms import rms_norm
from hfcount.spec import MoE, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block, buffer


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


def hash_moe(d: int, m: MoE, vocab: int | None, chosen: int) -> Block:
    """Routed and shared experts; with `vocab` each token id has k fixed experts, `chosen` of them.

    Tensors: gate.weight (n, d) and gate.bias (n), or gate.tid2eid (|V|, k), both buffers; w1, w3 (d_ff, d) and w2
    (d, d_ff) of each expert and of the shared one.
    """
    choice = block(tid2eid=buffer(vocab, chosen, whole=True)) if vocab is not None else block(bias=correction_bias(m))

    def expert(bias: bool) -> dict[str, Node]:
        return {"w1": Linear(d, m.width, bias), "w2": Linear(m.width, d, bias), "w3": Linear(d, m.width, bias)}

    return block(
        gate=Block({"weight": Tensor((m.experts, d)), **choice.children}, "router"),
        experts=experts(m, Block(expert(False), "experts")),
        shared_experts=Block(expert(m.bias), "mlp"),
    )


def streamed(s: Spec, layers: tuple[Node, ...], several: int) -> Block:
    """A decoder of m residual streams with its head, called head; a base model has the names of the first release.

    Tensors: embed_tokens (|V|, d), or embed; layers; norm (d); hc_head, which joins the streams, or hc_head_fn,
    hc_head_base and hc_head_scale.
    """
    table, norm, join = embedding(s.vocab, s.hidden), rms_norm(s.hidden), streams(s.hidden, several)
    if s.head == "base":
        loose = {f"hc_head_{name.removeprefix('hc_')}": one for name, one in join.children.items()}
        return block(embed=table, layers=layers, norm=norm, **loose)
    body = block(embed_tokens=table, layers=layers, norm=norm, hc_head=join)
    return block(model=body, head=lm_head(s, "model.embed_tokens.weight"))
