"""Networks that fold proteins: pairs of residues, aligned sequences, atoms.

Source of the names: transformers 5.23, modeling_esmfold2.py.
"""

from hfcount.architectures.layers.ffn import fused_swiglu
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block


def transition(d: int, width: int) -> Block:
    """A gated network behind a norm. Tensors: norm (d), mlp with gate_up_proj (2·d_ff, d) and down_proj (d, d_ff)."""
    return block(norm=layer_norm(d), mlp=fused_swiglu(d, width))


def pair_layer(d: int, width: int) -> Block:
    """Triangle multiplication, outgoing and incoming (doi:10.1038/s41586-021-03819-2), and a transition.

    Tensors of tri_mul_out and tri_mul_in: norm_start and norm_mix (d), proj_bundle (4·d, d), proj_emit and proj_gate
    (d, d).
    """
    norm, square = layer_norm(d), Linear(d, d)
    triangle = block(
        "other", norm_start=norm, norm_mix=norm, proj_bundle=Linear(d, 4 * d), proj_emit=square, proj_gate=square
    )
    return block(tri_mul_out=triangle, tri_mul_in=triangle, pair_transition=transition(d, width))


def pair_layers(count: int, d: int, width: int) -> Block:
    """Layers of pairs, under `layers`."""
    return block(layers=Repeat(Indices.below(count), pair_layer(d, width)))


def aligned_layers(count: int, d: int, width: int, aligned: int, *, outer: int, a: GQA, wide: int) -> tuple[Node, ...]:
    """Layers of pairs, `d` wide, and of aligned sequences, `aligned` wide, which the last layer only reads.

    Args:
        width: the width of the networks of pairs.
        outer: the width of each side of the outer product.
        a: the heads that weigh sequences by pairs.
        wide: the width of the networks of sequences.
    """
    inner = a.heads * a.head_dim
    product = block(
        "other",
        norm=layer_norm(aligned),
        input_proj=Linear(aligned, 2 * outer),
        output_proj=Linear(outer * outer, d, True),
    )
    weighing = block(
        "attention",
        norm_single=layer_norm(aligned),
        bias_norm=layer_norm(d),
        bias_proj=Linear(d, a.heads),
        v_proj=Linear(aligned, inner),
        gate_proj=Linear(aligned, inner),
        o_proj=Linear(inner, aligned),
    )
    last = Block({**pair_layer(d, width).children, "outer_product_mean": product})
    both = {"msa_pair_weighted_averaging": weighing, "msa_transition": transition(aligned, wide)}
    before = count - 1
    others = (Repeat(Indices.below(before), Block({**last.children, **both})),) if before > 0 else ()
    final = (Repeat(Indices(range(int(before), int(count)), 1), last),) if count > 0 else ()
    return (*others, *final)


def atom_layers(s: Spec) -> tuple[Node, ...]:
    """Layers of atoms with adaptive norms. Tensors: adaln_linear, self_attn, mlp."""
    d, square = s.hidden, Linear(s.hidden, s.hidden)

    def layer(kind: Layer) -> Block:
        named = dict.fromkeys(("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj"), square)
        return block(
            adaln_linear=Linear(d, 6 * d, component="norm"),
            self_attn=Block(named, "attention"),
            mlp=fused_swiglu(d, kind.dense.width),
        )

    return stack(s.layers, layer)


def atom_encoder(s: Spec, features: int) -> Block:
    """Embeds atoms by their `features`, and projects them to residues."""
    d = s.hidden
    return block(
        atom_linear=Linear(features, d, component="embedding"),
        atom_norm=layer_norm(d),
        layers=atom_layers(s),
        atom_to_token_linear=Linear(d, s.output, component="projector"),
    )
