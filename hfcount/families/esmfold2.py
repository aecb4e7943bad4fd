"""ESMFold2: ESM C reads a protein, pairs of residues are refined, atoms are placed by diffusion (model card)."""

from hfcount import families, keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import layer_norm
from hfcount.parts.folding import aligned, atom_encoder, confidence, pair_layers, placing
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("esmfold2",)  # transformers 5.23: modeling_esmfold2.py
IGNORED = tuple(
    "num_loops num_diffusion_samples inference_num_steps num_spatial_rope_pairs_per_axis"
    " num_uid_rope_pairs per_loop_lm_dropout outer_product_chunk_size".split()
)

_SIZES = {
    "hidden_size": "d_s",
    "single_inputs_size": "d_i",
    "pair_transition_intermediate_size": "d_pf",
    "max_atoms_per_token": "n_a",
    "num_res_types": "n_r",
}
_HEADS = {"num_plddt_bins": "n_l", "num_pde_bins": "n_d", "num_pae_bins": "n_e", "distogram_bins": "n_b"}


def spec(c: Config) -> Spec:
    sure, head, msa = c.part("confidence_head"), c.part("structure_head"), c.part("msa_encoder")
    module = head.part("diffusion_module")
    traits: dict[str, int] = {key: keys.sized(symbol, c.int(key)) for key, symbol in _SIZES.items()}
    traits |= {key: keys.sized(symbol, sure.int(key)) for key, symbol in _HEADS.items()}
    described = 5 + c.int("max_atomic_number") + c.int("char_vocab_size") * c.int("max_chars")
    traits |= {
        "atom_feature_dim": keys.sized("d_a", c.int("atom_feature_dim", default=None) or described),
        "relative": 4 * c.int("num_relative_residx_bins") + 2 * c.int("num_relative_chain_bins") + 7,
        "lm_encoder": c.part("lm_encoder").int("num_hidden_layers", maximum=MAX_LAYERS),
        "parcae": c.int("parcae_num_coda_layers", maximum=MAX_LAYERS),
        "confidence": sure.int("num_hidden_layers", maximum=MAX_LAYERS),
        "num_distogram_bins": keys.sized("n_g", head.int("num_distogram_bins")),
        "fourier_dim": keys.sized("d_f", module.int("fourier_dim")),
        "pair_intermediate_size": keys.sized("d_c", module.int("pair_intermediate_size")),
        "intermediate_size": keys.sized("d_t", module.int("intermediate_size")),
    }
    parts = {
        "esmc": families.part(c, "esmc_config").but(head="base"),
        "atoms": _atoms(c.part("atom_encoder")),
        "placing": _layers(module),
        "diffused": _atoms(module.part("atom_encoder")),
    }
    rest = traits["single_inputs_size"] - (2 * traits["num_res_types"] + 1)
    for where, own, width in (("atom_encoder", "atoms", rest), ("structure_head", "diffused", parts["placing"].hidden)):
        if parts[own].output != width:
            raise c.error(f"output_dim within {where} is {parts[own].output:,}, and must be {width:,}.", where)
    if msa.bool("enabled", default=True):
        parts["msa"] = _layers(msa)
        traits["outer_hidden_size"] = keys.sized("d_o", msa.int("outer_hidden_size"))
    else:
        msa.ignored = tuple(c.object("msa_encoder") or ())
    d, pairs = c.int("pairwise_hidden_size"), Dense(width=traits["pair_transition_intermediate_size"])
    layers = keys.alike(Layer(ffn=pairs), c.int("folding_trunk_num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d, traits=traits, parts=parts)


def _layers(c: Config) -> Spec:
    """Layers of attention and gated networks, by the keys of a part."""
    d, count = c.int("hidden_size"), c.int("num_hidden_layers", maximum=MAX_LAYERS)
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, bias=False, uneven="built", own_width=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size")))
    return Spec(family="esmfold2", hidden=d, layers=tuple(keys.alike(layer, count)), causal=False)


def _atoms(c: Config) -> Spec:
    found = _layers(c)
    width = found.layers[0].layer.attention.head_dim if found.layers else c.int("hidden_size")
    turned = 3 * c.int("num_spatial_rope_pairs_per_axis", minimum=0) + c.int("num_uid_rope_pairs", minimum=0)
    if turned > width // 2:
        said = f"num_spatial_rope_pairs_per_axis and num_uid_rope_pairs turn {turned:,} pairs, and a head has"
        raise c.error(f"{said} {width // 2:,}.", "num_uid_rope_pairs", "Correct one of them.")
    return found.but(out=c.int("output_dim"))


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    pair = Linear(of["single_inputs_size"], d)
    wide, features, square = of["pair_transition_intermediate_size"], of["atom_feature_dim"], Linear(d, d, True)
    read, norm = s.parts["esmc"], layer_norm(d)
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
        output_stack=pair_layers(of["parcae"], d, wide),
    )
    entry = block(
        atom_encoder=atom_encoder(s.parts["atoms"], features),
        pair_init_1=pair,
        pair_init_2=pair,
        rel_pos=block("embedding", embed=Linear(of["relative"], d)),
        token_bonds=Linear(1, d, component="embedding"),
    )
    trunk = pair_layers(sum(part.indices.count for part in s.layers), d, wide)
    return block(
        input_embedder=entry,
        language_model=language,
        esmc=families.tree(read),
        folding_trunk=trunk,
        lm_encoder=pair_layers(of["lm_encoder"], d, wide),
        parcae=parcae,
        structure_head=placing(s),
        distogram_head=Linear(d, of["num_distogram_bins"], True, "other"),
        confidence_head=confidence(s),
        msa_encoder=aligned(s) if "msa" in s.parts else None,
    )
