"""Parts of networks that fold proteins: pairs of residues, aligned sequences, atoms.

Source of the names: transformers 5.23, modeling_esmfold2.py.
"""

from hfcount.parts.ffn import fused_swiglu
from hfcount.parts.model import embedding, stack
from hfcount.parts.norms import layer_norm
from hfcount.spec import GQA, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, buffer


def transition(d: int, width: int) -> Block:
    """A gated network behind a norm. Tensors: norm (d), mlp with gate_up_proj (2·d_ff, d) and down_proj (d, d_ff)."""
    return block(norm=layer_norm(d), mlp=fused_swiglu(d, width))


def pair_layer(d: int, width: int) -> Block:
    """Both triangles of pairs, multiplied (doi:10.1038/s41586-021-03819-2), and a transition.

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


def aligned_layers(count: int, d: int, width: int, seen: int, outer: int, a: GQA, wide: int) -> tuple[Node, ...]:
    """Layers of pairs, `d` wide, and of aligned sequences, `seen` wide, which the last layer only reads.

    Args:
        width: the width of the networks of pairs.
        outer: the width of each side of the outer product.
        a: the heads that weigh sequences by pairs.
        wide: the width of the networks of sequences.
    """
    inner = a.heads * a.head_dim
    product = block(
        "other",
        norm=layer_norm(seen),
        input_proj=Linear(seen, 2 * outer),
        output_proj=Linear(outer * outer, d, True),
    )
    weighing = block(
        "attention",
        norm_single=layer_norm(seen),
        bias_norm=layer_norm(d),
        bias_proj=Linear(d, a.heads),
        v_proj=Linear(seen, inner),
        gate_proj=Linear(seen, inner),
        o_proj=Linear(inner, seen),
    )
    last = Block({**pair_layer(d, width).children, "outer_product_mean": product})
    both = {"msa_pair_weighted_averaging": weighing, "msa_transition": transition(seen, wide)}
    before = count - 1
    others = (Repeat(Indices.below(before), Block({**last.children, **both})),) if before > 0 else ()
    final = (Repeat(Indices(range(int(before), int(count)), 1), last),) if count > 0 else ()
    return (*others, *final)


def atom_layers(s: Spec) -> tuple[Node, ...]:
    """Layers of atoms, whose norms have no weights but what the atom says. Tensors: adaln_linear, self_attn, mlp."""
    d, square = s.hidden, Linear(s.hidden, s.hidden)

    def layer(one: Layer) -> Block:
        named = dict.fromkeys(("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj"), square)
        return block(
            adaln_linear=Linear(d, 6 * d, component="norm"),
            self_attn=Block(named, "attention"),
            mlp=fused_swiglu(d, one.dense.width),
        )

    return stack(s.layers, layer)


def atom_encoder(s: Spec, features: int) -> Block:
    """Atoms by their features, and what they say of their residues."""
    d = s.hidden
    return block(
        atom_linear=Linear(features, d, component="embedding"),
        atom_norm=layer_norm(d),
        layers=atom_layers(s),
        atom_to_token_linear=Linear(d, s.output, component="projector"),
    )


_PLACE, _RESOLVED = 3, 2  # coordinates of an atom; whether it is resolved
_INTO_PAIRS = ("single_to_pair", "single_to_pair_transpose", "single_to_pair_prod_in1", "single_to_pair_prod_in2")


def placing(s: Spec) -> Block:
    """The network that takes noise from places."""
    module, atoms, of = s.parts["placing"], s.parts["diffused"], s.traits
    t, d, single = module.hidden, s.hidden, of["single_inputs_size"]
    gate, pairs = Linear(t, t, True), transition(d, of["pair_intermediate_size"])

    def layer(one: Layer) -> Block:
        adapted = block("norm", cond_norm=layer_norm(t, False), gate_proj=gate, shift_proj=Linear(t, t))
        named: dict[str, Node] = dict.fromkeys(("k_proj", "v_proj", "gate_proj", "o_proj"), Linear(t, t))
        return block(
            input_layernorm=adapted,
            self_attn=Block({"q_proj": gate, **named}, "attention"),
            attn_gate=gate,
            post_attention_layernorm=adapted,
            mlp=fused_swiglu(t, one.dense.width),
            mlp_gate=gate,
            pair_norm=layer_norm(d),
            pair_bias_proj=Linear(d, one.attention.heads, component="attention"),
        )

    deeper = transition(t, of["intermediate_size"])
    waves, noise = buffer(of["fourier_dim"]), layer_norm(of["fourier_dim"])
    conditioning = block(
        pair_input_norm=layer_norm(2 * d),
        pair_proj=Linear(2 * d, d),
        pair_transition_0=pairs,
        pair_transition_1=pairs,
        single_input_norm=layer_norm(single),
        single_proj=Linear(single, t),
        fourier=block(frequencies=waves, phases=waves),
        noise_norm=noise,
        noise_proj=Linear(of["fourier_dim"], t),
        single_transition_0=deeper,
        single_transition_1=deeper,
    )
    decoder = block(
        token_to_atom_linear=Linear(t, atoms.hidden),
        layers=atom_layers(atoms),
        norm=layer_norm(atoms.hidden),
        output_linear=Linear(atoms.hidden, _PLACE),
    )
    return block(
        conditioning=conditioning,
        coords_linear=Linear(2 * _PLACE, atoms.hidden),
        atom_encoder=atom_encoder(atoms, of["atom_feature_dim"]),
        atom_decoder=decoder,
        single_to_token=Linear(t, t),
        token_transformer=block(layers=stack(module.layers, layer)),
        single_step_norm=layer_norm(t),
        token_norm=layer_norm(t),
    )


def confidence(s: Spec) -> Block:
    """What says how sure a place is."""
    d, of = s.hidden, s.traits
    many, own, single = of["max_atoms_per_token"], of["hidden_size"], of["single_inputs_size"]
    into = dict.fromkeys(_INTO_PAIRS, Linear(single, d))
    norms = {"single_inputs_norm": layer_norm(single), "pair_norm": layer_norm(d)}
    return block(
        "other",
        plddt_weight=Tensor((many, own, of["num_plddt_bins"])),
        resolved_weight=Tensor((many, own, _RESOLVED)),
        boundaries=buffer(of["distogram_bins"] - 1),
        dist_bin_pairwise_embed=embedding(of["distogram_bins"], d),
        input_embedder=Block({**norms, **into, "single_to_pair_prod_out": Linear(d, d)}),
        row_attention_pooling=block(attn_proj=Linear(d, 1), out_proj=Linear(d, own)),
        folding_trunk=pair_layers(of["confidence"], d, of["pair_transition_intermediate_size"]),
        plddt_layernorm=layer_norm(own),
        pae_layernorm=layer_norm(d),
        pae_head=Linear(d, of["num_pae_bins"]),
        pde_layernorm=layer_norm(d),
        pde_head=Linear(d, of["num_pde_bins"]),
        resolved_layernorm=layer_norm(own),
    )


def aligned(s: Spec) -> Block:
    """What reads sequences that are aligned with this one."""
    msa, of, d = s.parts["msa"], s.traits, s.hidden
    found = tuple[Node, ...]()
    if msa.layers:
        one = msa.layers[0].layer
        wide, outer = of["pair_transition_intermediate_size"], of["outer_hidden_size"]
        found = aligned_layers(msa.depth, d, wide, msa.hidden, outer, one.attention, one.dense.width)
    return block(
        embed=Linear(of["num_res_types"] + 2, msa.hidden, component="embedding"),
        project_inputs=Linear(of["single_inputs_size"], msa.hidden, component="projector"),
        layers=found,
    )
