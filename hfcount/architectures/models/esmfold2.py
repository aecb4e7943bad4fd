"""ESMFold2: ESM C reads a protein, pairs of residues are refined, atoms are placed by diffusion (model card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, fused_swiglu, layer_norm, stack
from hfcount.architectures.layers.folding import aligned_layers, atom_encoder, atom_layers, pair_layers, transition
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block, buffer

MODEL_TYPES = ("esmfold2",)  # transformers 5.23: modeling_esmfold2.py
IGNORED = tuple(
    "num_loops num_diffusion_samples inference_num_steps num_spatial_rope_pairs_per_axis"
    " num_uid_rope_pairs per_loop_lm_dropout outer_product_chunk_size".split()
)

_PLACE, _RESOLVED = 3, 2  # coordinates of an atom; whether it is resolved
_INTO_PAIRS = ("single_to_pair", "single_to_pair_transpose", "single_to_pair_prod_in1", "single_to_pair_prod_in2")


class Confidence(Sizes):
    """The bins that what says how sure a place is tells apart, and those of distances that it reads."""

    num_plddt_bins: int = size("n_l")
    num_pde_bins: int = size("n_d")
    num_pae_bins: int = size("n_e")
    distogram_bins: int = size("n_b")


class Diffusion(Sizes):
    """What the network that takes noise from places has besides its layers."""

    fourier_dim: int = size("d_f")
    pair_intermediate_size: int = size("d_c")
    intermediate_size: int = size("d_t")


def _described(c: Config) -> int:
    """The features of an atom: its place, charge, mask, element, and the letters of its name."""
    described = 5 + c.int("max_atomic_number") + c.int("char_vocab_size") * c.int("max_chars")
    return keys.dim("d_a", c.int("atom_feature_dim", default=None) or described)


class Esmfold2(Sizes):
    """Sizes specific to ESMFold2; `relative` are the features of how far residues and chains are from each other."""

    hidden_size: int = size("d_s")
    single_inputs_size: int = size("d_i")
    pair_transition_intermediate_size: int = size("d_pf")
    max_atoms_per_token: int = size("n_a")
    num_res_types: int = size("n_r")
    confidence: Confidence = derived(lambda c: Confidence.read(c.part("confidence_head")))
    atom_feature_dim: int = derived(_described)
    relative: int = derived(lambda c: 4 * c.int("num_relative_residx_bins") + 2 * c.int("num_relative_chain_bins") + 7)
    lm_encoder_layers: int = derived(lambda c: c.part("lm_encoder").int("num_hidden_layers", maximum=MAX_LAYERS))
    parcae_num_coda_layers: int = count()
    confidence_layers: int = derived(lambda c: c.part("confidence_head").int("num_hidden_layers", maximum=MAX_LAYERS))
    num_distogram_bins: int = derived(lambda c: keys.dim("n_g", c.part("structure_head").int("num_distogram_bins")))
    diffusion: Diffusion = derived(lambda c: Diffusion.read(c.part("structure_head").part("diffusion_module")))
    outer_hidden_size: int | None = None


def spec(c: Config) -> Spec[Esmfold2]:
    c.part("confidence_head")
    head, msa = c.part("structure_head"), c.part("msa_encoder")
    module = head.part("diffusion_module")
    sizes = Esmfold2.read(c)
    parts = {
        "esmc": families.part(c, "esmc_config").replace(head="base"),
        "atoms": _atoms(c.part("atom_encoder")),
        "placing": _layers(module),
        "diffused": _atoms(module.part("atom_encoder")),
    }
    rest = sizes.single_inputs_size - (2 * sizes.num_res_types + 1)
    for where, name, width in (
        ("atom_encoder", "atoms", rest),
        ("structure_head", "diffused", parts["placing"].hidden),
    ):
        if parts[name].output != width:
            raise c.error(
                "contradiction", f"output_dim within {where} is {parts[name].output:,}, but must be {width:,}.", where
            )
    if msa.bool("enabled", default=True):
        parts["msa"] = _layers(msa)
        sizes = sizes.replace(outer_hidden_size=keys.dim("d_o", msa.int("outer_hidden_size")))
    else:
        msa.ignored = tuple(c.object("msa_encoder") or ())
    d, pairs = c.int("pairwise_hidden_size"), Dense(width=sizes.pair_transition_intermediate_size)
    layers = keys.uniform(Layer(ffn=pairs), c.int("folding_trunk_num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d, parts=parts).having(sizes)


def _layers(c: Config) -> Spec:
    """Layers of attention and gated networks, by the keys of a part."""
    d, count = c.int("hidden_size"), c.int("num_hidden_layers", maximum=MAX_LAYERS)
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, bias=False, indivisible="built", own_width=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size")))
    return Spec(family="esmfold2", hidden=d, layers=tuple(keys.uniform(layer, count)), causal=False)


def _atoms(c: Config) -> Spec:
    model = _layers(c)
    width = model.layers[0].layer.attention.head_dim if model.layers else c.int("hidden_size")
    turned = 3 * c.int("num_spatial_rope_pairs_per_axis", minimum=0) + c.int("num_uid_rope_pairs", minimum=0)
    if turned > width // 2:
        text = f"num_spatial_rope_pairs_per_axis and num_uid_rope_pairs turn {turned:,} pairs, and a head has"
        raise c.error("contradiction", f"{text} {width // 2:,}.", "num_uid_rope_pairs", "Correct one of them.")
    return model.replace(out=c.int("output_dim"))


def blueprint(s: Spec[Esmfold2]) -> Block:
    d, of = s.hidden, s.own
    pair = Linear(of.single_inputs_size, d)
    wide, features, square = of.pair_transition_intermediate_size, of.atom_feature_dim, Linear(d, d, True)
    read, norm = s.part("esmc"), layer_norm(d)
    language = block(
        "projector",
        layer_weights=Tensor((read.depth + 1,)),
        single_to_pair=block(downproject=square, output_fc1=Linear(2 * d, d, True), output_fc2=square),
        pair_input_norm=layer_norm(read.hidden),
        pair_output_norm=norm,
        pair_proj=Linear(read.hidden, d),
    )
    parcae = block(
        log_state_decay=Tensor((d,), component="ssm"),
        log_delta=Tensor((d,), component="ssm"),
        input_matrix_continuous=Tensor((d, d), component="ssm"),
        input_norm=norm,
        out_proj=Linear(d, d, component="ssm"),
        output_stack=pair_layers(of.parcae_num_coda_layers, d, wide),
    )
    entry = block(
        atom_encoder=atom_encoder(s.part("atoms"), features),
        pair_init_1=pair,
        pair_init_2=pair,
        rel_pos=block("embedding", embed=Linear(of.relative, d)),
        token_bonds=Linear(1, d, component="embedding"),
    )
    trunk = pair_layers(sum(part.indices.count for part in s.layers), d, wide)
    return block(
        input_embedder=entry,
        language_model=language,
        esmc=families.tree(read),
        folding_trunk=trunk,
        lm_encoder=pair_layers(of.lm_encoder_layers, d, wide),
        parcae=parcae,
        structure_head=_placing(s),
        distogram_head=Linear(d, of.num_distogram_bins, True, "other"),
        confidence_head=_confidence(s),
        msa_encoder=_aligned(s) if "msa" in s.parts else None,
    )


def _placing(s: Spec[Esmfold2]) -> Block:
    """The network that takes noise from places."""
    module, atoms, sizes = s.part("placing"), s.part("diffused"), s.own.diffusion
    t, d, single = module.hidden, s.hidden, s.own.single_inputs_size
    gate, pairs = Linear(t, t, True), transition(d, sizes.pair_intermediate_size)

    def layer_block(layer: Layer) -> Block:
        adapted = block("norm", cond_norm=layer_norm(t, False), gate_proj=gate, shift_proj=Linear(t, t))
        named: dict[str, Node] = dict.fromkeys(("k_proj", "v_proj", "gate_proj", "o_proj"), Linear(t, t))
        return block(
            input_layernorm=adapted,
            self_attn=Block({"q_proj": gate, **named}, "attention"),
            attn_gate=gate,
            post_attention_layernorm=adapted,
            mlp=fused_swiglu(t, layer.dense.width),
            mlp_gate=gate,
            pair_norm=layer_norm(d),
            pair_bias_proj=Linear(d, layer.attention.heads, component="attention"),
        )

    deeper = transition(t, sizes.intermediate_size)
    waves, noise = buffer(sizes.fourier_dim), layer_norm(sizes.fourier_dim)
    conditioning = block(
        pair_input_norm=layer_norm(2 * d),
        pair_proj=Linear(2 * d, d),
        pair_transition_0=pairs,
        pair_transition_1=pairs,
        single_input_norm=layer_norm(single),
        single_proj=Linear(single, t),
        fourier=block(frequencies=waves, phases=waves),
        noise_norm=noise,
        noise_proj=Linear(sizes.fourier_dim, t),
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
        atom_encoder=atom_encoder(atoms, s.own.atom_feature_dim),
        atom_decoder=decoder,
        single_to_token=Linear(t, t),
        token_transformer=block(layers=stack(module.layers, layer_block)),
        single_step_norm=layer_norm(t),
        token_norm=layer_norm(t),
    )


def _confidence(s: Spec[Esmfold2]) -> Block:
    """What says how sure a place is."""
    d, bins, of = s.hidden, s.own.confidence, s.own
    many, width, single = of.max_atoms_per_token, of.hidden_size, of.single_inputs_size
    into = dict.fromkeys(_INTO_PAIRS, Linear(single, d))
    norms = {"single_inputs_norm": layer_norm(single), "pair_norm": layer_norm(d)}
    return block(
        "other",
        plddt_weight=Tensor((many, width, bins.num_plddt_bins)),
        resolved_weight=Tensor((many, width, _RESOLVED)),
        boundaries=buffer(bins.distogram_bins - 1),
        dist_bin_pairwise_embed=embedding(bins.distogram_bins, d),
        input_embedder=Block({**norms, **into, "single_to_pair_prod_out": Linear(d, d)}),
        row_attention_pooling=block(attn_proj=Linear(d, 1), out_proj=Linear(d, width)),
        folding_trunk=pair_layers(of.confidence_layers, d, of.pair_transition_intermediate_size),
        plddt_layernorm=layer_norm(width),
        pae_layernorm=layer_norm(d),
        pae_head=Linear(d, bins.num_pae_bins),
        pde_layernorm=layer_norm(d),
        pde_head=Linear(d, bins.num_pde_bins),
        resolved_layernorm=layer_norm(width),
    )


def _aligned(s: Spec[Esmfold2]) -> Block:
    """What reads sequences that are aligned with this one."""
    msa, of, d = s.part("msa"), s.own, s.hidden
    layers = tuple[Node, ...]()
    if msa.layers and of.outer_hidden_size is not None:
        layer, wide = msa.layers[0].layer, of.pair_transition_intermediate_size
        layers = aligned_layers(
            msa.depth, d, wide, msa.hidden, outer=of.outer_hidden_size, a=layer.attention, wide=layer.dense.width
        )
    return block(
        embed=Linear(of.num_res_types + 2, msa.hidden, component="embedding"),
        project_inputs=Linear(of.single_inputs_size, msa.hidden, component="projector"),
        layers=layers,
    )
